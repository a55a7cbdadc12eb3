//! Nothing: this package is its tests. They lie apart so that the macros can be compiled against
//! a facade without HTTP, which makes them fast.
