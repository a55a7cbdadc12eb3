//! Nothing: this package is its tests, of the client against servers that follow a script.
