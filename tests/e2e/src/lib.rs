//! Nothing: this package is its tests, over real sockets and through a proxy that breaks them.
