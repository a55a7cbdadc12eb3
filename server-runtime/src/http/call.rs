//! Which call a request is a try of, as its headers say it.

use http::{HeaderMap, HeaderName, Method, request::Parts};
use link_wire::{CallId, Caller, Code, LogPosition};

use super::reply::{Names, Stop};
use crate::engine::calls::{Call, Fingerprint, Origin};

/// What other services call the header of a call ID.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most call IDs that one request acknowledges.
const MOST_ACKS: usize = 256;

/// The call that the headers name, if the request can be a command.
pub(super) fn of(
    names: &Names,
    caller: &Caller,
    head: &Parts,
    body: &[u8],
) -> Result<Option<Call>, Stop> {
    if head.method == Method::GET || head.method == Method::HEAD {
        return Ok(None);
    }
    let headers = &head.headers;
    let attempt = attempt(&names.attempt, headers)?;
    let seen = seen(names, headers)?;
    let own = one(headers, &names.call)?;
    let own = own.map(|id| id.parse().map_err(|why| bad(&names.call, why)));
    let own: Option<CallId> = own.transpose()?;
    let foreign = foreign(headers)?;
    let (id, origin) = match (own, foreign) {
        (Some(own), Some(foreign)) if own != foreign => {
            let why = format!("it is another ID than that in `{}`", names.call);
            return Err(bad(&IDEMPOTENCY_KEY, why));
        }
        (Some(own), _) => (own, Origin::Link { seen }),
        (None, Some(foreign)) => (foreign, Origin::Foreign),
        (None, None) => return Ok(None),
    };
    Ok(Some(Call {
        caller: caller.clone(),
        id,
        fingerprint: fingerprint(head, body),
        attempt,
        origin,
    }))
}

/// A call for a command that names none: it runs once for this request.
pub(super) fn unnamed(caller: &Caller, head: &Parts, body: &[u8]) -> Result<Call, Stop> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system gives no random bytes");
        Stop::code(Code::Failed, "no call ID can be made")
    })?;
    Ok(Call {
        caller: caller.clone(),
        id: CallId::from_bytes(bytes),
        fingerprint: fingerprint(head, body),
        attempt: 1,
        origin: Origin::Made,
    })
}

/// How the tries of a call are named about which somebody asks: by a key, where the request says
/// that key; else as a link does.
pub(super) fn origin(names: &Names, headers: &HeaderMap, id: &CallId) -> Result<Origin, Stop> {
    match foreign(headers)? {
        None => Ok(Origin::Link {
            seen: seen(names, headers)?,
        }),
        Some(key) if key == *id => Ok(Origin::Foreign),
        Some(_) => Err(bad(
            &IDEMPOTENCY_KEY,
            "it is another ID than that of the path",
        )),
    }
}

/// What the client had seen of the log before the first try.
fn seen(names: &Names, headers: &HeaderMap) -> Result<Option<LogPosition>, Stop> {
    let text = one(headers, &names.log)?;
    let seen = text.map(|text| text.parse().map_err(|why| bad(&names.log, why)));
    seen.transpose()
}

/// The calls whose replies have arrived.
pub(super) fn acks(names: &Names, headers: &HeaderMap) -> Result<Vec<CallId>, Stop> {
    let Some(text) = one(headers, &names.ack)? else {
        return Ok(Vec::new());
    };
    let ids = text.split(',').map(|id| id.trim_matches([' ', '\t']));
    let ids = ids.map(|id| id.parse().map_err(|why| bad(&names.ack, why)));
    let ids = ids.take(MOST_ACKS + 1).collect::<Result<Vec<_>, _>>()?;
    if ids.len() > MOST_ACKS {
        let why = format!("it has at most {MOST_ACKS} call IDs");
        return Err(bad(&names.ack, why));
    }
    Ok(ids)
}

/// The ID in the header of other services: as it stands there, or as a string of RFC 8941.
fn foreign(headers: &HeaderMap) -> Result<Option<CallId>, Stop> {
    let Some(text) = one(headers, &IDEMPOTENCY_KEY)? else {
        return Ok(None);
    };
    let bare = match text.strip_prefix('"') {
        None => text.to_owned(),
        Some(rest) => unquoted(rest).ok_or_else(|| {
            let why = "a string of RFC 8941 ends with a quote, and has a backslash only before a \
                       quote or a backslash";
            bad(&IDEMPOTENCY_KEY, why)
        })?,
    };
    let id = bare.parse().map_err(|why| bad(&IDEMPOTENCY_KEY, why))?;
    Ok(Some(id))
}

/// What stands behind the first quote of a string, up to its last one (RFC 8941, 4.2.5).
fn unquoted(rest: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return chars.as_str().is_empty().then_some(text),
            '\\' => text.push(chars.next().filter(|c| ['"', '\\'].contains(c))?),
            c => text.push(c),
        }
    }
}

fn fingerprint(head: &Parts, body: &[u8]) -> Fingerprint {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    Fingerprint::of(head.method.as_str(), path, body)
}

fn attempt(name: &HeaderName, headers: &HeaderMap) -> Result<u32, Stop> {
    let Some(text) = one(headers, name)? else {
        return Ok(1);
    };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && *number >= 1);
    number.ok_or_else(|| bad(name, "a try has a number from 1"))
}

/// The one value of a header, without the spaces and tabs around it.
pub(super) fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Stop> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(bad(name, "it stands there more than once"));
    }
    let text = value
        .to_str()
        .map_err(|_| bad(name, "it has bytes that are not visible ASCII"))?;
    Ok(Some(text.trim_matches([' ', '\t'])))
}

/// 400, with what is wrong with a header.
pub(super) fn bad(name: &HeaderName, why: impl std::fmt::Display) -> Stop {
    Stop::code(Code::BadRequest, format!("the header `{name}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<Option<CallId>, Stop> {
        let mut headers = HeaderMap::new();
        headers.insert(IDEMPOTENCY_KEY, text.parse().unwrap());
        foreign(&headers)
    }

    #[test]
    fn an_idempotency_key_is_bare_or_a_string() {
        for (text, id) in [
            ("order-7", "order-7"),
            (" order-7\t", "order-7"),
            (r#""order-7""#, "order-7"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
        ] {
            assert_eq!(key(text).unwrap().unwrap().as_str(), id, "{text}");
        }
        for text in [
            "",
            "a b",
            "a,b",
            r#"""#,
            r#""a"#,
            r#""a"b"#,
            r#""a\b""#,
            r#""a b""#,
            r#""""#,
            &"x".repeat(129),
        ] {
            assert!(key(text).is_err(), "{text}");
        }
    }
}
