//! The client of riff over real sockets, against servers that follow a script.
