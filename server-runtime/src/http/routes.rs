//! From a method and a path to a handler and the values of the path.

use std::collections::HashMap;

use http::Method;
use link_wire::{Code, Service};
use percent_encoding::percent_decode_str;

use super::reply::Stop;
use crate::{Handler, State};

/// The routes of a service.
pub(super) struct Routes<S: State> {
    /// One entry a shape: paths that differ in the names of their parameters only are one.
    shapes: matchit::Router<Vec<Served<S>>>,
}

/// One route and its handler.
pub(super) struct Served<S: State> {
    pub(super) handler: Handler<S>,
    /// Its place in the service.
    index: usize,
    /// The names of the path's parameters, in order.
    parameters: Vec<&'static str>,
}

/// A route that was found, with the values of its path.
pub(super) struct Found<'a, S: State> {
    pub(super) handler: &'a Handler<S>,
    /// Its place in the service.
    pub(super) index: usize,
    pub(super) path: Vec<(&'static str, String)>,
}

impl<S: State> Default for Routes<S> {
    fn default() -> Self {
        Self {
            shapes: matchit::Router::new(),
        }
    }
}

impl<S: State> Routes<S> {
    /// The table of a service, whose every route has one handler of its kind.
    pub(super) fn of(service: &Service, handlers: Vec<Handler<S>>) -> Result<Self, String> {
        let mut left: HashMap<&str, Handler<S>> = HashMap::new();
        for handler in handlers {
            let name = handler.route.name;
            if left.insert(name, handler).is_some() {
                return Err(format!("the route `{name}` has two handlers"));
            }
        }
        let mut shapes: HashMap<String, Vec<Served<S>>> = HashMap::new();
        for (index, route) in service.routes.iter().enumerate() {
            let Some(handler) = left.remove(route.name) else {
                return Err(format!("the route `{}` has no handler", route.name));
            };
            if handler.route != route || handler.kind() != route.kind {
                return Err(format!(
                    "the handler of `{}` is one of another route",
                    route.name
                ));
            }
            let (shape, parameters) = shape(route.path);
            let served = shapes.entry(shape).or_default();
            if served
                .iter()
                .any(|other| other.handler.route.method == route.method)
            {
                return Err(format!("two routes are {} {}", route.method, route.path));
            }
            served.push(Served {
                handler,
                index,
                parameters,
            });
        }
        if let Some(name) = left.keys().next() {
            return Err(format!("the handler of `{name}` is one of no route"));
        }
        let mut routes = Self::default();
        for (shape, served) in shapes {
            let insert = routes.shapes.insert(shape.clone(), served);
            insert.map_err(|error| format!("the path {shape}: {error}"))?;
        }
        Ok(routes)
    }

    /// The route of a request.
    pub(super) fn find(&self, method: &Method, path: &str) -> Result<Found<'_, S>, Stop> {
        let Ok(matched) = self.shapes.at(path) else {
            return Err(Stop::code(Code::NoRoute, format!("{method} {path}")));
        };
        let served = matched
            .value
            .iter()
            .find(|s| s.handler.route.method == method.as_str());
        let Some(served) = served else {
            let known: Vec<_> = matched
                .value
                .iter()
                .map(|s| s.handler.route.method)
                .collect();
            return Err(Stop::OtherMethod {
                allow: known.join(", "),
            });
        };
        let values = served.parameters.iter().zip(matched.params.iter());
        let decoded = values.map(|(name, (_, value))| {
            let text = percent_decode_str(value).decode_utf8().map_err(|_| {
                let detail = format!("the path parameter `{name}` is not UTF-8");
                Stop::code(Code::BadRequest, detail)
            })?;
            Ok((*name, text.into_owned()))
        });
        Ok(Found {
            handler: &served.handler,
            index: served.index,
            path: decoded.collect::<Result<_, Stop>>()?,
        })
    }
}

/// A path with its parameters numbered, and their names.
fn shape(path: &'static str) -> (String, Vec<&'static str>) {
    let mut names = Vec::new();
    let segments = path.split('/').map(|segment| {
        let name = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        match name {
            Some(name) => {
                names.push(name);
                format!("{{p{}}}", names.len())
            }
            None => segment.to_owned(),
        }
    });
    let shape = segments.collect::<Vec<_>>().join("/");
    (shape, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_differ_in_names_only_have_one_shape() {
        assert_eq!(
            shape("/v1/items/{item}/claim"),
            ("/v1/items/{p1}/claim".into(), vec!["item"])
        );
        assert_eq!(shape("/a/{x}/{y}").0, shape("/a/{n}/{m}").0);
    }
}
