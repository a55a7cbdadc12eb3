//! The description of a service as `OpenAPI` 3.1, made of its table when somebody asks.
//!
//! The table knows no types of bodies, so the description has none, and says so.

use link_wire::{Code, Kind, Problem, Route, Service};
use serde_json::{Map, Value, json};

use super::own::Own;

pub(super) fn describe(service: &Service) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut add = |path: &str, method: &str, what: Value| {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method.to_ascii_lowercase()] = what;
    };
    for route in service.routes {
        add(route.path, route.method, operation(service, route));
    }
    for own in Own::ALL {
        add(own.path(), own.method(), own_operation(service, own));
    }
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": service.name,
            "version": service.build.version,
            "description": format!(
                "The routes of wire line {}, as the server has them. The types of bodies and \
                 replies are not part of this description. The codes of the server itself are {}; \
                 a handler has codes of its own.",
                service.build.line,
                codes.join(", ")
            ),
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "responses": {
                "Problem": {
                    "description": "A no, as problem details (RFC 9457).",
                    "content": {
                        Problem::MEDIA_TYPE: { "schema": { "$ref": "#/components/schemas/Problem" } },
                    },
                },
            },
            "schemas": {
                "Problem": {
                    "type": "object",
                    "required": ["status", "code"],
                    "properties": {
                        "type": { "type": "string" },
                        "title": { "type": "string" },
                        "status": { "type": "integer" },
                        "detail": { "type": "string" },
                        "code": { "type": "string" },
                    },
                },
                "CallFate": {
                    "type": "object",
                    "required": ["call", "fate"],
                    "properties": {
                        "call": { "type": "string" },
                        "fate": { "enum": ["pending", "ran", "refused", "cancelled", "forgotten", "unknown"] },
                        "position": { "type": "integer" },
                        "at": { "type": "integer", "description": "Milliseconds since 1970." },
                        "command": { "type": "string" },
                        "reply": {},
                        "code": { "type": "string" },
                        "detail": { "type": "string" },
                    },
                },
            },
        },
    })
}

fn operation(service: &Service, route: &Route) -> Value {
    let names = &service.headers;
    let mut parameters: Vec<Value> = path_parameters(route.path).collect();
    let mut header = |name: &str, what: &str| {
        parameters.push(json!({
            "name": name,
            "in": "header",
            "required": false,
            "description": what,
            "schema": { "type": "string" },
        }));
    };
    header(names.build, "The build of the client: its line decides.");
    match route.kind {
        Kind::Command => {
            header(
                names.call,
                "The call ID, the same in each try. Without it the server makes one.",
            );
            header(
                "idempotency-key",
                "The call ID, for clients that know this header.",
            );
            header(names.attempt, "The number of the try, from 1.");
            header(
                names.log,
                "What the client had seen of the log before the first try.",
            );
            header(
                names.ack,
                "Call IDs whose replies arrived, with commas between them.",
            );
            header(
                names.caller,
                "Whose call it is: another caller's is refused.",
            );
        }
        Kind::Signal => header(
            names.sent,
            "LINK.NUMBER: the order of the signals of one link.",
        ),
        Kind::Query | Kind::Stream => {}
    }
    if route.kind != Kind::Stream {
        header(
            names.budget,
            "Milliseconds that are left of the call's budget.",
        );
    }
    let media = match route.kind {
        Kind::Stream => "text/event-stream",
        Kind::Query | Kind::Signal | Kind::Command => "application/json",
    };
    let mut operation = json!({
        "operationId": route.name,
        "x-kind": route.kind.as_str(),
        "parameters": parameters,
        "responses": {
            "200": { "description": "The reply.", "content": { media: {} } },
            "default": { "$ref": "#/components/responses/Problem" },
        },
    });
    if let Some(budget) = route.budget {
        operation["x-budget"] = json!({
            "name": budget.name,
            "milliseconds": u64::try_from(budget.within.as_millis()).unwrap_or(u64::MAX),
        });
    }
    if route.method != "GET" {
        operation["requestBody"] = json!({ "content": { "application/json": {} } });
    }
    operation
}

fn own_operation(service: &Service, own: Own) -> Value {
    let (name, what, media) = match own {
        Own::Health => ("healthz", "The process lives.", "application/json"),
        Own::Ready => (
            "readyz",
            "Whether the server takes calls.",
            "application/json",
        ),
        Own::Metrics => ("metrics", "Numbers for Prometheus.", "text/plain"),
        Own::OpenApi => ("openapi", "This description.", "application/json"),
        Own::Call => (
            "call_fate",
            "What became of a call of the caller who asks.",
            "application/json",
        ),
        Own::Settle => (
            "settle_call",
            "Settles a call of the caller who asks: one that is not known never runs any more.",
            "application/json",
        ),
    };
    let schema = match own {
        Own::Call | Own::Settle => json!({ "schema": { "$ref": "#/components/schemas/CallFate" } }),
        Own::Health | Own::Ready | Own::Metrics | Own::OpenApi => json!({}),
    };
    let mut parameters: Vec<Value> = path_parameters(own.path()).collect();
    if matches!(own, Own::Call | Own::Settle) {
        parameters.push(json!({
            "name": service.headers.log,
            "in": "header",
            "required": false,
            "description": "What the client had seen of the log before the call's first try.",
            "schema": { "type": "string" },
        }));
    }
    let mut operation = json!({
        "operationId": format!("link_{name}"),
        "description": what,
        "parameters": parameters,
        "responses": {
            "200": { "description": what, "content": { media: schema } },
            "default": { "$ref": "#/components/responses/Problem" },
        },
    });
    if matches!(own, Own::Health | Own::Ready) {
        operation["security"] = json!([]);
    }
    operation
}

/// The parameters of a path, each of them text.
fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|segment| {
        let rest = segment.strip_prefix('{')?;
        rest.strip_suffix('}')
    });
    names.map(|name| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": { "type": "string" },
        })
    })
}
