//! Whether the trait and link.toml say the same, route by route.
//!
//! The faults here name both sides: the error stands on the token of the trait, and its text
//! shows the line of link.toml and what would fit.

use proc_macro2::Ident;
use syn::{Attribute, Type};

use crate::{
    declared::{Declared, Method, Param},
    distance::closest,
    faults::Faults,
    model::{Kind, Method as HttpMethod, Route, Segment, Spec},
    report::frame,
};

/// A route with the method that declares its types.
pub(crate) struct Fitted<'a> {
    pub(crate) route: &'a Route,
    /// The place of the route in link.toml's table of routes.
    pub(crate) index: usize,
    pub(crate) name: &'a Ident,
    pub(crate) docs: Vec<&'a Attribute>,
    /// In the order of the path.
    pub(crate) path: Vec<Param<'a>>,
    pub(crate) input: Option<Input<'a>>,
    pub(crate) reply: Option<&'a Type>,
}

/// What a request carries beside its path.
pub(crate) struct Input<'a> {
    pub(crate) carrier: Carrier,
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
}

/// Where a request carries its input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// In the query of the URL.
    Query,
    /// As JSON in the body.
    Body,
}

impl Carrier {
    fn of(method: HttpMethod) -> Self {
        if method == HttpMethod::Get {
            Self::Query
        } else {
            Self::Body
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Body => "body",
        }
    }
}

/// Joins the two sides, in the order of link.toml, and adds what does not fit. The methods that
/// fit nothing come second.
pub(crate) fn fit<'a>(
    spec: &'a Spec,
    declared: Declared<'a>,
    faults: &mut Faults,
) -> (Vec<Fitted<'a>>, Vec<Method<'a>>) {
    let mut missing: Vec<&Route> = spec
        .routes
        .iter()
        .filter(|route| !declared.mentions(&route.name))
        .collect();
    let trait_name = declared.name;
    let mut fitted = Vec::new();
    let mut rest = declared.faulty;
    for method in declared.methods {
        let name = method.name.to_string();
        let Some(index) = spec.routes.iter().position(|route| *route.name == name) else {
            faults.add(method.name, missing_route(spec, &name, &missing));
            // A misspelt method is one mistake, and it was told.
            let near = closest(&name, missing.iter().map(|route| route.name.as_str()));
            let near = near.map(str::to_owned);
            missing.retain(|route| near.as_deref() != Some(route.name.as_str()));
            rest.push(method);
            continue;
        };
        let mut own = Faults::default();
        let joined = fit_one(spec, index, method.clone(), &mut own);
        match own.into_error() {
            Some(error) => {
                faults.push(error);
                rest.push(method);
            }
            None => fitted.push(joined),
        }
    }
    for route in missing {
        faults.add(trait_name, missing_method(spec, route));
    }
    fitted.sort_by_key(|one| one.index);
    check_catch_up(spec, &fitted, faults);
    (fitted, rest)
}

fn fit_one<'a>(
    spec: &'a Spec,
    index: usize,
    method: Method<'a>,
    faults: &mut Faults,
) -> Fitted<'a> {
    let route = &spec.routes[index];
    let carrier = Carrier::of(route.method);
    let wanted: Vec<&str> = path_names(route).collect();
    let mut path = Vec::new();
    let mut input = None;
    let mut unknown = Vec::new();
    for param in method.params {
        let name = param.name.to_string();
        if wanted.contains(&name.as_str()) {
            let turn = wanted.get(path.len()) == Some(&name.as_str()) && input.is_none();
            if !turn {
                faults.add(param.name, out_of_order(spec, route));
            }
            path.push(param);
        } else if name == carrier.word() && input.is_none() {
            input = Some(Input {
                carrier,
                name: param.name,
                ty: param.ty,
            });
        } else {
            unknown.push(param);
        }
    }
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|want| path.iter().all(|have| have.name != want))
        .collect();
    for param in &unknown {
        faults.add(param.name, unknown_param(spec, route, param, &missing));
    }
    // A misspelt parameter is one mistake, and it was told.
    if unknown.len() < missing.len() {
        for name in &missing {
            let place = at_path(spec, route, &format!("`{{{name}}}` is in the path"));
            let shape = signature(route);
            faults.add(
                method.name,
                format!(
                    "`{}` lacks the parameter `{name}`\n{place}\nwrite: {shape}",
                    route.name.value
                ),
            );
        }
    }
    if route.kind == Kind::Stream && method.reply.is_none() {
        let shape = signature(route);
        faults.add(
            method.name,
            format!("a stream gives events: say of which type\nwrite: {shape}"),
        );
    }
    Fitted {
        route,
        index,
        name: method.name,
        docs: method.docs,
        path,
        input,
        reply: method.reply,
    }
}

/// The query that a stream catches up with is asked with `After` alone, and answers with a page.
/// Which types these are is for rustc; that they are there is told here.
fn check_catch_up(spec: &Spec, fitted: &[Fitted<'_>], faults: &mut Faults) {
    for stream in fitted {
        let Some(named) = &stream.route.catch_up else {
            continue;
        };
        if let Some(input) = &stream.input {
            let place = frame(&spec.source, named.place, "this query knows nothing of it");
            faults.add(
                input.name,
                format!(
                    "a stream that catches up has no query: after a break it would read what the \
                     query leaves out\n{place}\nput what chooses its events into the path"
                ),
            );
        }
        let query = fitted
            .iter()
            .find(|one| one.route.name.value == named.value);
        if let Some(query) = query.filter(|query| query.input.is_none() || query.reply.is_none()) {
            let place = frame(
                &spec.source,
                named.place,
                "it is what this stream catches up with",
            );
            let path: Vec<String> = path_names(query.route)
                .map(|name| format!("{name}: {}, ", camel(name)))
                .collect();
            let path = path.concat();
            faults.add(
                query.name,
                format!(
                    "`{0}` reads what came after a cursor\n{place}\nwrite: fn {0}({path}query: After) \
                     -> Page<{1}Event>;",
                    named.value,
                    camel(&stream.route.name.value)
                ),
            );
        }
    }
}

/// The names of the path's parameters, in its order.
pub(crate) fn path_names(route: &Route) -> impl Iterator<Item = &str> {
    route
        .path
        .segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Param(name) => Some(name.value.as_str()),
            Segment::Literal(_) => None,
        })
}

fn missing_method(spec: &Spec, route: &Route) -> String {
    let name = &route.name.value;
    let place = frame(&spec.source, route.name.place, "this route has no method");
    format!(
        "the route `{name}` is not declared in this trait\n{place}\nadd to the trait:\n    \
         #[riff_route]\n    {}",
        signature(route)
    )
}

fn missing_route(spec: &Spec, name: &str, missing: &[&Route]) -> String {
    let file = &spec.source.name;
    if let Some(near) = closest(name, missing.iter().map(|route| route.name.as_str())) {
        return format!("{file} has no route `{name}`\ndid you mean `{near}`?");
    }
    let budget = spec
        .budgets
        .first()
        .map_or("short", |budget| budget.name.as_str());
    format!(
        "{file} has no route `{name}`\nadd it:\n    [routes.{name}]\n    kind = \"query\"\n    \
         path = \"GET /v1/{name}\"\n    budget = \"{budget}\""
    )
}

fn out_of_order(spec: &Spec, route: &Route) -> String {
    let place = at_path(spec, route, "the path");
    format!(
        "the parameters of the path come first, in its order\n{place}\nwrite: {}",
        signature(route)
    )
}

fn unknown_param(spec: &Spec, route: &Route, param: &Param<'_>, missing: &[&str]) -> String {
    let name = param.name.to_string();
    let carrier = Carrier::of(route.method);
    let method = route.method.as_str();
    match (name.as_str(), carrier) {
        ("body", Carrier::Query) => {
            let place = at_path(spec, route, "GET has no body");
            return format!(
                "`{}` is a {method}: what it asks for goes into the URL; call this parameter \
                 `query`\n{place}",
                route.name.value
            );
        }
        ("query", Carrier::Body) => {
            let place = at_path(spec, route, "what it says goes into the body");
            return format!(
                "`{}` is a {method}: call this parameter `body`\n{place}",
                route.name.value
            );
        }
        _ => {}
    }
    let place = at_path(spec, route, "the path");
    let hint = match closest(&name, missing.iter().copied().chain([carrier.word()])) {
        Some(near) => format!("did you mean `{near}`?"),
        None if missing.is_empty() => {
            format!(
                "what does not stand in the path is one parameter, named `{}`",
                carrier.word()
            )
        }
        None => format!("write: {}", signature(route)),
    };
    format!(
        "the path of `{}` has no parameter `{name}`\n{place}\n{hint}",
        route.name.value
    )
}

fn at_path(spec: &Spec, route: &Route, label: &str) -> String {
    frame(&spec.source, route.path.place, label)
}

/// A signature that would fit the route, with type names made of its own.
fn signature(route: &Route) -> String {
    let camel = camel(&route.name.value);
    let mut params: Vec<String> = path_names(route)
        .map(|name| format!("{name}: {}", self::camel(name)))
        .collect();
    let reply = match route.kind {
        Kind::Stream => format!("{camel}Event"),
        Kind::Query => {
            let word = Carrier::of(route.method).word();
            params.push(format!("{word}: {camel}"));
            format!("{camel}Reply")
        }
        Kind::Signal | Kind::Command => {
            params.push(format!("body: {camel}"));
            format!("{camel}Reply")
        }
    };
    format!("fn {}({}) -> {reply};", route.name.value, params.join(", "))
}

fn camel(snake: &str) -> String {
    snake
        .split('_')
        .filter_map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect::<String>())
        })
        .collect()
}
