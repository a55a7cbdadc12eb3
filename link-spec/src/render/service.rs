//! The static table of names, limits and routes that both runtimes read.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::quote;

use crate::{
    model::{Kind, Outbox, Spec, Within},
    render::Names,
};

/// `pub static RIFF: Service = …;`
pub(crate) fn table(spec: &Spec, names: &Names, vis: &syn::Visibility) -> TokenStream {
    let (facade, service) = (&names.facade, &names.service);
    let name = &spec.link.name.value;
    let line = &spec.link.line.value;
    let header = |end: &str| format!("{name}-{end}");
    let (build, call, caller, attempt) = (
        header("build"),
        header("call"),
        header("caller"),
        header("try"),
    );
    let (sent, repeat, refused) = (header("sent"), header("repeat"), header("refused"));
    let (log, ack, within) = (header("log"), header("ack"), header("budget"));
    let limits = limits(spec, facade);
    let routes = spec.routes.iter().map(|route| {
        let (name, method, path) = (&route.name.value, route.method.as_str(), &route.path.text);
        let kind = kind(route.kind, facade);
        let line = spec.line_of(route);
        let budget = match spec.budget_of(route) {
            None => quote!(::core::option::Option::None),
            Some(budget) => {
                let name = &budget.name.value;
                let within = duration(match budget.within {
                    Within::Time(within) => within,
                    Within::Period => spec.limits.alive_every,
                });
                let tries = match budget.tries {
                    None => quote!(#facade::Attempts::Many),
                    Some(most) => quote!(#facade::Attempts::AtMost(#most)),
                };
                quote!(::core::option::Option::Some(
                    #facade::Budget { name: #name, within: #within, tries: #tries }
                ))
            }
        };
        let outbox = match route.outbox.as_ref().map(|outbox| outbox.value) {
            None => quote!(#facade::OutboxRule::Keep),
            Some(Outbox::No) => quote!(#facade::OutboxRule::No),
            Some(Outbox::Within(most)) => {
                let most = duration(most);
                quote!(#facade::OutboxRule::Within(#most))
            }
        };
        quote!(#facade::Route {
            name: #name,
            kind: #kind,
            method: #method,
            path: #path,
            budget: #budget,
            outbox: #outbox,
            line: #line,
        })
    });
    let env = name.to_uppercase().replace('-', "_");
    let (commit, time) = (format!("{env}_BUILD_COMMIT"), format!("{env}_BUILD_TIME"));
    let doc = format!(
        "The link `{name}` of {}: names, limits and routes.\n\nThe build stamp takes the commit \
         and the time from the environment variables `{commit}` and `{time}` of the build.",
        spec.source.name
    );
    quote! {
        #[doc = #doc]
        #vis static #service: #facade::Service = #facade::Service {
            name: #name,
            headers: #facade::Headers {
                build: #build,
                call: #call,
                caller: #caller,
                attempt: #attempt,
                sent: #sent,
                repeat: #repeat,
                refused: #refused,
                log: #log,
                ack: #ack,
                budget: #within,
            },
            build: #facade::Build {
                line: #line,
                version: ::core::env!("CARGO_PKG_VERSION"),
                commit: ::core::option_env!(#commit),
                time: ::core::option_env!(#time),
            },
            limits: #limits,
            routes: &[#(#routes),*],
        };
    }
}

fn limits(spec: &Spec, facade: &syn::Path) -> TokenStream {
    let limits = &spec.limits;
    let most = limits.call_keep_most;
    let [connect, attempt, first_wait, most_wait, stream_retry] = [
        limits.connect,
        limits.attempt,
        limits.first_wait,
        limits.most_wait,
        limits.stream_retry,
    ]
    .map(duration);
    let [stream_idle, line_after, alive_every, call_keep, outbox_keep] = [
        limits.stream_idle,
        limits.line_after,
        limits.alive_every,
        limits.call_keep,
        limits.outbox_keep,
    ]
    .map(duration);
    quote!(#facade::Limits {
        connect: #connect,
        attempt: #attempt,
        first_wait: #first_wait,
        most_wait: #most_wait,
        stream_retry: #stream_retry,
        stream_idle: #stream_idle,
        line_after: #line_after,
        alive_every: #alive_every,
        call_keep: #call_keep,
        outbox_keep: #outbox_keep,
        call_keep_most: #most,
    })
}

fn duration(time: Duration) -> TokenStream {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    quote!(::core::time::Duration::from_millis(#ms))
}

fn kind(kind: Kind, facade: &syn::Path) -> TokenStream {
    match kind {
        Kind::Query => quote!(#facade::Kind::Query),
        Kind::Signal => quote!(#facade::Kind::Signal),
        Kind::Command => quote!(#facade::Kind::Command),
        Kind::Stream => quote!(#facade::Kind::Stream),
    }
}
