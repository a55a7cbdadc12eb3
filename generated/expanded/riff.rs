// Made by riff-link 0.1.0 of link.toml, fingerprint 6708a9ade28e416a. Do not edit.
// Made again by: riff-link generate --trait riff-api/src/lib.rs --out generated link.toml

#[doc(hidden)]
#[allow(
    missing_docs,
    unused,
    reason = "it exists so that nobody can implement the trait"
)]
mod __riff_sealed {
    pub trait Sealed {}
}
/// The routes of riff.
#[allow(dead_code, private_bounds, reason = "it declares the wire; nothing calls it")]
pub trait Riff: __riff_sealed::Sealed {
    /// Who is here now, and what they do.
    #[riff_route]
    fn who(query: Who) -> WhoReply;
    /// The threads that have a message.
    #[riff_route]
    fn threads(query: Threads) -> ThreadsReply;
    /// The messages of a thread after a cursor, at most 200.
    #[riff_route]
    fn history(thread: Thread, query: After) -> Page<Message>;
    /// The changes of the board after a cursor, at most 200.
    #[riff_route]
    fn changes(query: After) -> Page<Changed>;
    /// Posts a message to a thread.
    #[riff_route]
    fn post(thread: Thread, body: Post) -> Posted;
    /// Claims an item for the caller.
    #[riff_route]
    fn claim(item: ItemId, body: Claim) -> Claimed;
    /// Releases an item that the caller holds.
    #[riff_route]
    fn release(item: ItemId, body: Release) -> Released;
    /// Says how far the caller has read a thread.
    #[riff_route]
    fn ack(thread: Thread, body: Ack) -> Acked;
    /// Says that the caller is here, and what they do.
    #[riff_route]
    fn alive(body: Alive) -> Asks;
    /// Each new message of a thread.
    #[riff_route]
    fn tail(thread: Thread) -> Message;
    /// Each change of the board: posts, claims, releases, acknowledgements.
    #[riff_route]
    fn watch() -> Changed;
}
/**The link `riff` of link.toml: names, limits and routes.

The build stamp takes the commit and the time from the environment variables `RIFF_BUILD_COMMIT` and `RIFF_BUILD_TIME` of the build.*/
pub static RIFF: ::riff_link::Service = ::riff_link::Service {
    name: "riff",
    headers: ::riff_link::Headers {
        build: "riff-build",
        call: "riff-call",
        caller: "riff-caller",
        attempt: "riff-try",
        sent: "riff-sent",
        repeat: "riff-repeat",
        refused: "riff-refused",
        log: "riff-log",
        ack: "riff-ack",
        budget: "riff-budget",
    },
    build: ::riff_link::Build {
        line: "1.0",
        version: ::core::env!("CARGO_PKG_VERSION"),
        commit: ::core::option_env!("RIFF_BUILD_COMMIT"),
        time: ::core::option_env!("RIFF_BUILD_TIME"),
    },
    limits: ::riff_link::Limits {
        connect: ::core::time::Duration::from_millis(5000u64),
        attempt: ::core::time::Duration::from_millis(20000u64),
        first_wait: ::core::time::Duration::from_millis(250u64),
        most_wait: ::core::time::Duration::from_millis(5000u64),
        stream_retry: ::core::time::Duration::from_millis(5000u64),
        stream_idle: ::core::time::Duration::from_millis(45000u64),
        line_after: ::core::time::Duration::from_millis(1000u64),
        alive_every: ::core::time::Duration::from_millis(60000u64),
        call_keep: ::core::time::Duration::from_millis(86400000u64),
        outbox_keep: ::core::time::Duration::from_millis(82800000u64),
        call_keep_most: 1024u32,
    },
    routes: &[
        ::riff_link::Route {
            name: "who",
            kind: ::riff_link::Kind::Query,
            method: "GET",
            path: "/v1/who",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 18u32,
        },
        ::riff_link::Route {
            name: "threads",
            kind: ::riff_link::Kind::Query,
            method: "GET",
            path: "/v1/threads",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 23u32,
        },
        ::riff_link::Route {
            name: "history",
            kind: ::riff_link::Kind::Query,
            method: "GET",
            path: "/v1/threads/{thread}/history",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 30u32,
        },
        ::riff_link::Route {
            name: "changes",
            kind: ::riff_link::Kind::Query,
            method: "GET",
            path: "/v1/changes",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 36u32,
        },
        ::riff_link::Route {
            name: "post",
            kind: ::riff_link::Kind::Command,
            method: "POST",
            path: "/v1/threads/{thread}/messages",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 41u32,
        },
        ::riff_link::Route {
            name: "claim",
            kind: ::riff_link::Kind::Command,
            method: "POST",
            path: "/v1/items/{item}/claim",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 46u32,
        },
        ::riff_link::Route {
            name: "release",
            kind: ::riff_link::Kind::Command,
            method: "POST",
            path: "/v1/items/{item}/release",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 51u32,
        },
        ::riff_link::Route {
            name: "ack",
            kind: ::riff_link::Kind::Command,
            method: "POST",
            path: "/v1/threads/{thread}/ack",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "short",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::Many,
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 56u32,
        },
        ::riff_link::Route {
            name: "alive",
            kind: ::riff_link::Kind::Signal,
            method: "POST",
            path: "/v1/alive",
            budget: ::core::option::Option::Some(::riff_link::Budget {
                name: "tick",
                within: ::core::time::Duration::from_millis(60000u64),
                tries: ::riff_link::Attempts::AtMost(1u32),
            }),
            outbox: ::riff_link::OutboxRule::Keep,
            line: 61u32,
        },
        ::riff_link::Route {
            name: "tail",
            kind: ::riff_link::Kind::Stream,
            method: "GET",
            path: "/v1/threads/{thread}/tail",
            budget: ::core::option::Option::None,
            outbox: ::riff_link::OutboxRule::Keep,
            line: 66u32,
        },
        ::riff_link::Route {
            name: "watch",
            kind: ::riff_link::Kind::Stream,
            method: "GET",
            path: "/v1/watch",
            budget: ::core::option::Option::None,
            outbox: ::riff_link::OutboxRule::Keep,
            line: 72u32,
        },
    ],
};
/**The typed client of [`Riff`]: one method for each route of link.toml.

It is cheap to clone, and each clone uses the same link.*/
#[derive(Clone, Debug)]
pub struct RiffApi {
    api: ::riff_link::client::Api,
}
impl RiffApi {
    /// A client of the server at `base`, with the limits of link.toml.
    ///
    /// All clients of one server and the same limits share one link in a process.
    ///
    /// # Errors
    ///
    /// When `base` is no URL that the link can call.
    pub fn open(
        base: &str,
        credentials: ::riff_link::client::Credentials,
    ) -> ::core::result::Result<Self, ::riff_link::client::InvalidBase> {
        let link = ::riff_link::client::link::with(base, RIFF.limits)?;
        ::core::result::Result::Ok(Self::new(link, credentials))
    }
    /// A client over a link that the caller chose, with the limits of that link:
    /// those of link.toml hold for [`open`](Self::open) only.
    pub fn new(
        link: ::riff_link::client::Link,
        credentials: ::riff_link::client::Credentials,
    ) -> Self {
        Self {
            api: ::riff_link::client::Api::new(link, credentials, &RIFF),
        }
    }
    /// The same client, whose commands stand in an outbox until they have a reply, as far
    /// as link.toml says so. What earlier processes of the same caller have left in it is
    /// sent from now on.
    #[must_use]
    pub fn with_outbox(self, outbox: &::riff_link::client::Outbox) -> Self {
        Self {
            api: self.api.with_outbox(outbox),
        }
    }
    /// The link that all its calls go over.
    pub fn link(&self) -> &::riff_link::client::Link {
        self.api.link()
    }
    /// Who is here now, and what they do.
    ///
    /**`GET /v1/who`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:18.*/
    pub fn who(&self, query: &Who) -> ::riff_link::client::Call<WhoReply> {
        self.api.request(&RIFF.routes[0usize]).query(query).call()
    }
    /// The threads that have a message.
    ///
    /**`GET /v1/threads`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:23.*/
    pub fn threads(&self, query: &Threads) -> ::riff_link::client::Call<ThreadsReply> {
        self.api.request(&RIFF.routes[1usize]).query(query).call()
    }
    /// The messages of a thread after a cursor, at most 200.
    ///
    /**`GET /v1/threads/{thread}/history`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:30.*/
    pub fn history(
        &self,
        thread: &Thread,
        query: &After,
    ) -> ::riff_link::client::Call<Page<Message>> {
        self.api.request(&RIFF.routes[2usize]).path("thread", thread).query(query).call()
    }
    /// The changes of the board after a cursor, at most 200.
    ///
    /**`GET /v1/changes`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:36.*/
    pub fn changes(&self, query: &After) -> ::riff_link::client::Call<Page<Changed>> {
        self.api.request(&RIFF.routes[3usize]).query(query).call()
    }
    /// Posts a message to a thread.
    ///
    /**`POST /v1/threads/{thread}/messages`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:41.*/
    pub fn post(
        &self,
        thread: &Thread,
        body: &Post,
    ) -> ::riff_link::client::CommandCall<Posted> {
        self.api
            .request(&RIFF.routes[4usize])
            .path("thread", thread)
            .body(body)
            .command()
    }
    /// Claims an item for the caller.
    ///
    /**`POST /v1/items/{item}/claim`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:46.*/
    pub fn claim(
        &self,
        item: &ItemId,
        body: &Claim,
    ) -> ::riff_link::client::CommandCall<Claimed> {
        self.api.request(&RIFF.routes[5usize]).path("item", item).body(body).command()
    }
    /// Releases an item that the caller holds.
    ///
    /**`POST /v1/items/{item}/release`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:51.*/
    pub fn release(
        &self,
        item: &ItemId,
        body: &Release,
    ) -> ::riff_link::client::CommandCall<Released> {
        self.api.request(&RIFF.routes[6usize]).path("item", item).body(body).command()
    }
    /// Says how far the caller has read a thread.
    ///
    /**`POST /v1/threads/{thread}/ack`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:56.*/
    pub fn ack(
        &self,
        thread: &Thread,
        body: &Ack,
    ) -> ::riff_link::client::CommandCall<Acked> {
        self.api
            .request(&RIFF.routes[7usize])
            .path("thread", thread)
            .body(body)
            .command()
    }
    /// Says that the caller is here, and what they do.
    ///
    /**`POST /v1/alive`: a signal with the budget `tick` (the period of 60s, one try). It is kept in memory only and the newest wins. It is not sent again: the next one comes soon.

Declared at link.toml:61.*/
    pub fn alive(&self, body: &Alive) -> ::riff_link::client::Call<Asks> {
        self.api.request(&RIFF.routes[8usize]).body(body).call()
    }
    /// Each new message of a thread.
    ///
    /**`GET /v1/threads/{thread}/tail`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:66.*/
    pub fn tail(&self, thread: &Thread) -> ::riff_link::client::EventStream<Message> {
        self.api
            .request(&RIFF.routes[9usize])
            .path("thread", thread)
            .stream()
            .ordered(
                |event: &Message| ::riff_link::Cursor::cursor(&event.seq),
                self.api.request(&RIFF.routes[2usize]).path("thread", thread),
            )
    }
    /// Each change of the board: posts, claims, releases, acknowledgements.
    ///
    /**`GET /v1/watch`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:72.*/
    pub fn watch(&self) -> ::riff_link::client::EventStream<Changed> {
        self.api
            .request(&RIFF.routes[10usize])
            .stream()
            .ordered(
                |event: &Changed| ::riff_link::Cursor::cursor(&event.number),
                self.api.request(&RIFF.routes[3usize]),
            )
    }
}
/// What is below the typed client: it asks what became of a call.
impl ::core::convert::AsRef<::riff_link::client::Api> for RiffApi {
    fn as_ref(&self) -> &::riff_link::client::Api {
        &self.api
    }
}
///The calls of [`Riff`], for code that is generic over its client. [`RiffApi`] implements it; it can be a trait object.
pub trait RiffCalls: ::core::marker::Send + ::core::marker::Sync {
    /// Who is here now, and what they do.
    ///
    /**`GET /v1/who`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:18.*/
    fn who(&self, query: &Who) -> ::riff_link::client::Call<WhoReply>;
    /// The threads that have a message.
    ///
    /**`GET /v1/threads`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:23.*/
    fn threads(&self, query: &Threads) -> ::riff_link::client::Call<ThreadsReply>;
    /// The messages of a thread after a cursor, at most 200.
    ///
    /**`GET /v1/threads/{thread}/history`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:30.*/
    fn history(
        &self,
        thread: &Thread,
        query: &After,
    ) -> ::riff_link::client::Call<Page<Message>>;
    /// The changes of the board after a cursor, at most 200.
    ///
    /**`GET /v1/changes`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:36.*/
    fn changes(&self, query: &After) -> ::riff_link::client::Call<Page<Changed>>;
    /// Posts a message to a thread.
    ///
    /**`POST /v1/threads/{thread}/messages`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:41.*/
    fn post(
        &self,
        thread: &Thread,
        body: &Post,
    ) -> ::riff_link::client::CommandCall<Posted>;
    /// Claims an item for the caller.
    ///
    /**`POST /v1/items/{item}/claim`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:46.*/
    fn claim(
        &self,
        item: &ItemId,
        body: &Claim,
    ) -> ::riff_link::client::CommandCall<Claimed>;
    /// Releases an item that the caller holds.
    ///
    /**`POST /v1/items/{item}/release`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:51.*/
    fn release(
        &self,
        item: &ItemId,
        body: &Release,
    ) -> ::riff_link::client::CommandCall<Released>;
    /// Says how far the caller has read a thread.
    ///
    /**`POST /v1/threads/{thread}/ack`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:56.*/
    fn ack(
        &self,
        thread: &Thread,
        body: &Ack,
    ) -> ::riff_link::client::CommandCall<Acked>;
    /// Says that the caller is here, and what they do.
    ///
    /**`POST /v1/alive`: a signal with the budget `tick` (the period of 60s, one try). It is kept in memory only and the newest wins. It is not sent again: the next one comes soon.

Declared at link.toml:61.*/
    fn alive(&self, body: &Alive) -> ::riff_link::client::Call<Asks>;
    /// Each new message of a thread.
    ///
    /**`GET /v1/threads/{thread}/tail`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:66.*/
    fn tail(&self, thread: &Thread) -> ::riff_link::client::EventStream<Message>;
    /// Each change of the board: posts, claims, releases, acknowledgements.
    ///
    /**`GET /v1/watch`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:72.*/
    fn watch(&self) -> ::riff_link::client::EventStream<Changed>;
}
impl RiffCalls for RiffApi {
    fn who(&self, query: &Who) -> ::riff_link::client::Call<WhoReply> {
        RiffApi::who(self, query)
    }
    fn threads(&self, query: &Threads) -> ::riff_link::client::Call<ThreadsReply> {
        RiffApi::threads(self, query)
    }
    fn history(
        &self,
        thread: &Thread,
        query: &After,
    ) -> ::riff_link::client::Call<Page<Message>> {
        RiffApi::history(self, thread, query)
    }
    fn changes(&self, query: &After) -> ::riff_link::client::Call<Page<Changed>> {
        RiffApi::changes(self, query)
    }
    fn post(
        &self,
        thread: &Thread,
        body: &Post,
    ) -> ::riff_link::client::CommandCall<Posted> {
        RiffApi::post(self, thread, body)
    }
    fn claim(
        &self,
        item: &ItemId,
        body: &Claim,
    ) -> ::riff_link::client::CommandCall<Claimed> {
        RiffApi::claim(self, item, body)
    }
    fn release(
        &self,
        item: &ItemId,
        body: &Release,
    ) -> ::riff_link::client::CommandCall<Released> {
        RiffApi::release(self, item, body)
    }
    fn ack(
        &self,
        thread: &Thread,
        body: &Ack,
    ) -> ::riff_link::client::CommandCall<Acked> {
        RiffApi::ack(self, thread, body)
    }
    fn alive(&self, body: &Alive) -> ::riff_link::client::Call<Asks> {
        RiffApi::alive(self, body)
    }
    fn tail(&self, thread: &Thread) -> ::riff_link::client::EventStream<Message> {
        RiffApi::tail(self, thread)
    }
    fn watch(&self) -> ::riff_link::client::EventStream<Changed> {
        RiffApi::watch(self)
    }
}
const _: fn(After) -> ::riff_link::After = |query| query;
const _: fn(Page<Message>) -> ::riff_link::Page<Message> = |page| page;
const _: fn(After) -> ::riff_link::After = |query| query;
const _: fn(Page<Changed>) -> ::riff_link::Page<Changed> = |page| page;
/**What the server of [`Riff`] does: one handler for each route of link.toml.

Handlers read and decide. They change nothing, do no I/O and read no clock but `cx.now()`.*/
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle the routes of this link",
    label = "has no handlers",
    note = "write `#[riff_handlers] impl … for {Self}`, with one method for each route"
)]
pub trait RiffHandlers: ::riff_link::server::State {
    /// Who is here now, and what they do.
    ///
    /**`GET /v1/who`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:18.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn who(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        query: Who,
    ) -> ::core::result::Result<WhoReply, ::riff_link::server::Refusal>;
    /// The threads that have a message.
    ///
    /**`GET /v1/threads`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:23.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn threads(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        query: Threads,
    ) -> ::core::result::Result<ThreadsReply, ::riff_link::server::Refusal>;
    /// The messages of a thread after a cursor, at most 200.
    ///
    /**`GET /v1/threads/{thread}/history`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:30.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn history(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        thread: Thread,
        query: After,
    ) -> ::core::result::Result<Page<Message>, ::riff_link::server::Refusal>;
    /// The changes of the board after a cursor, at most 200.
    ///
    /**`GET /v1/changes`: a query with the budget `short` (60s). It changes nothing, so it is sent again within its budget.

Declared at link.toml:36.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn changes(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        query: After,
    ) -> ::core::result::Result<Page<Changed>, ::riff_link::server::Refusal>;
    /// Posts a message to a thread.
    ///
    /**`POST /v1/threads/{thread}/messages`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:41.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn post(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        thread: Thread,
        body: Post,
    ) -> ::core::result::Result<
        ::riff_link::server::Accepted<
            <Self as ::riff_link::server::State>::Change,
            Posted,
        >,
        ::riff_link::server::Refusal,
    >;
    /// Claims an item for the caller.
    ///
    /**`POST /v1/items/{item}/claim`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:46.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn claim(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        item: ItemId,
        body: Claim,
    ) -> ::core::result::Result<
        ::riff_link::server::Accepted<
            <Self as ::riff_link::server::State>::Change,
            Claimed,
        >,
        ::riff_link::server::Refusal,
    >;
    /// Releases an item that the caller holds.
    ///
    /**`POST /v1/items/{item}/release`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:51.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn release(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        item: ItemId,
        body: Release,
    ) -> ::core::result::Result<
        ::riff_link::server::Accepted<
            <Self as ::riff_link::server::State>::Change,
            Released,
        >,
        ::riff_link::server::Refusal,
    >;
    /// Says how far the caller has read a thread.
    ///
    /**`POST /v1/threads/{thread}/ack`: a command with the budget `short` (60s). Each of its tries carries one call ID, under which the server runs it once.

Declared at link.toml:56.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn ack(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        thread: Thread,
        body: Ack,
    ) -> ::core::result::Result<
        ::riff_link::server::Accepted<
            <Self as ::riff_link::server::State>::Change,
            Acked,
        >,
        ::riff_link::server::Refusal,
    >;
    /// Says that the caller is here, and what they do.
    ///
    /**`POST /v1/alive`: a signal with the budget `tick` (the period of 60s, one try). It is kept in memory only and the newest wins. It is not sent again: the next one comes soon.

Declared at link.toml:61.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn alive(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        body: Alive,
    ) -> ::core::result::Result<Asks, ::riff_link::server::Refusal>;
    /// Each new message of a thread.
    ///
    /**`GET /v1/threads/{thread}/tail`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:66.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn tail(
        &self,
        cx: &::riff_link::server::Cx<'_>,
        thread: Thread,
    ) -> ::core::result::Result<
        ::riff_link::server::Events<
            <Self as ::riff_link::server::State>::Change,
            Message,
        >,
        ::riff_link::server::Refusal,
    >;
    /// Each change of the board: posts, claims, releases, acknowledgements.
    ///
    /**`GET /v1/watch`: a stream. It is opened again after each break, for ever, and goes on after the last event seen.

Declared at link.toml:72.*/
    ///
    /// # Errors
    ///
    /// A refusal, when the answer is no.
    fn watch(
        &self,
        cx: &::riff_link::server::Cx<'_>,
    ) -> ::core::result::Result<
        ::riff_link::server::Events<
            <Self as ::riff_link::server::State>::Change,
            Changed,
        >,
        ::riff_link::server::Refusal,
    >;
}
///Makes the server of [`Riff`] from an engine.
#[derive(Debug)]
pub enum RiffServer {}
impl RiffServer {
    /// The server of this engine, without authentication yet.
    #[allow(
        clippy::new_ret_no_self,
        reason = "the one server type is generic over all links"
    )]
    pub fn new<__State: RiffHandlers>(
        engine: ::riff_link::server::Engine<__State>,
    ) -> ::riff_link::server::Server<__State> {
        ::riff_link::server::Server::new(
            &RIFF,
            engine,
            ::std::vec![
                ::riff_link::server::Handler::query(& RIFF.routes[0usize], | state : &
                __State, cx, input | { let query = input.query:: < Who > () ?;
                ::riff_link::server::reply(RiffHandlers::who(state, cx, query)) },),
                ::riff_link::server::Handler::query(& RIFF.routes[1usize], | state : &
                __State, cx, input | { let query = input.query:: < Threads > () ?;
                ::riff_link::server::reply(RiffHandlers::threads(state, cx, query)) },),
                ::riff_link::server::Handler::query(& RIFF.routes[2usize], | state : &
                __State, cx, input | { let thread = input.path:: < Thread > ("thread") ?;
                let query = input.query:: < After > () ?;
                ::riff_link::server::reply(RiffHandlers::history(state, cx, thread,
                query)) },), ::riff_link::server::Handler::query(& RIFF.routes[3usize], |
                state : & __State, cx, input | { let query = input.query:: < After > ()
                ?; ::riff_link::server::reply(RiffHandlers::changes(state, cx, query))
                },), ::riff_link::server::Handler::command(& RIFF.routes[4usize], | state
                : & __State, cx, input | { let thread = input.path:: < Thread >
                ("thread") ?; let body = input.body:: < Post > () ?;
                ::riff_link::server::decision(RiffHandlers::post(state, cx, thread,
                body)) },), ::riff_link::server::Handler::command(& RIFF.routes[5usize],
                | state : & __State, cx, input | { let item = input.path:: < ItemId >
                ("item") ?; let body = input.body:: < Claim > () ?;
                ::riff_link::server::decision(RiffHandlers::claim(state, cx, item, body))
                },), ::riff_link::server::Handler::command(& RIFF.routes[6usize], | state
                : & __State, cx, input | { let item = input.path:: < ItemId > ("item") ?;
                let body = input.body:: < Release > () ?;
                ::riff_link::server::decision(RiffHandlers::release(state, cx, item,
                body)) },), ::riff_link::server::Handler::command(& RIFF.routes[7usize],
                | state : & __State, cx, input | { let thread = input.path:: < Thread >
                ("thread") ?; let body = input.body:: < Ack > () ?;
                ::riff_link::server::decision(RiffHandlers::ack(state, cx, thread, body))
                },), ::riff_link::server::Handler::signal(& RIFF.routes[8usize], | state
                : & __State, cx, input | { let body = input.body:: < Alive > () ?;
                ::riff_link::server::heard(RiffHandlers::alive(state, cx, body), input
                .body:: < Alive > () ?) },), ::riff_link::server::Handler::stream(& RIFF
                .routes[9usize], | state : & __State, cx, input | { let thread = input
                .path:: < Thread > ("thread") ?;
                ::riff_link::server::projection(RiffHandlers::tail(state, cx, thread),
                ::core::option::Option::Some(| event : & Message |
                ::riff_link::Cursor::cursor(& event.seq))) },),
                ::riff_link::server::Handler::stream(& RIFF.routes[10usize], | state : &
                __State, cx, input | {
                ::riff_link::server::projection(RiffHandlers::watch(state, cx),
                ::core::option::Option::Some(| event : & Changed |
                ::riff_link::Cursor::cursor(& event.number))) },)
            ],
        )
    }
}
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_0_0 = Who;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_0_1 = WhoReply;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_1_0 = Threads;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_1_1 = ThreadsReply;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_2_0 = Thread;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_2_1 = After;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_2_2 = Page<Message>;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_3_0 = After;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_3_1 = Page<Changed>;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_4_0 = Thread;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_4_1 = Post;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_4_2 = Posted;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_5_0 = ItemId;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_5_1 = Claim;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_5_2 = Claimed;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_6_0 = ItemId;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_6_1 = Release;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_6_2 = Released;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_7_0 = Thread;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_7_1 = Ack;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_7_2 = Acked;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_8_0 = Alive;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_8_1 = Asks;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_9_0 = Thread;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_9_1 = Message;
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "a name for a macro")]
pub type __riff_10_0 = Changed;
#[doc(hidden)]
#[macro_export]
macro_rules! __riff_handlers {
    ($($item:tt)*) => {
        ::riff_link::__handlers! { whole RiffHandlers { [who "query" "link.toml:18"
        "fn who(&self, cx: &Cx<'_>, query: Who) -> Result<WhoReply, Refusal>" 1 { fn
        who(& self, cx : & ::riff_link::server::Cx < '_ >, query : $crate::__riff_0_0) ->
        ::core::result::Result < $crate::__riff_0_1, ::riff_link::server::Refusal > }]
        [threads "query" "link.toml:23"
        "fn threads(&self, cx: &Cx<'_>, query: Threads) -> Result<ThreadsReply, Refusal>"
        1 { fn threads(& self, cx : & ::riff_link::server::Cx < '_ >, query :
        $crate::__riff_1_0) -> ::core::result::Result < $crate::__riff_1_1,
        ::riff_link::server::Refusal > }] [history "query" "link.toml:30"
        "fn history(&self, cx: &Cx<'_>, thread: Thread, query: After) -> Result<Page<Message>, Refusal>"
        2 { fn history(& self, cx : & ::riff_link::server::Cx < '_ >, thread :
        $crate::__riff_2_0, query : $crate::__riff_2_1) -> ::core::result::Result <
        $crate::__riff_2_2, ::riff_link::server::Refusal > }] [changes "query"
        "link.toml:36"
        "fn changes(&self, cx: &Cx<'_>, query: After) -> Result<Page<Changed>, Refusal>"
        1 { fn changes(& self, cx : & ::riff_link::server::Cx < '_ >, query :
        $crate::__riff_3_0) -> ::core::result::Result < $crate::__riff_3_1,
        ::riff_link::server::Refusal > }] [post "command" "link.toml:41"
        "fn post(&self, cx: &Cx<'_>, thread: Thread, body: Post) -> Result<Accepted<Self::Change, Posted>, Refusal>"
        2 { fn post(& self, cx : & ::riff_link::server::Cx < '_ >, thread :
        $crate::__riff_4_0, body : $crate::__riff_4_1) -> ::core::result::Result <
        ::riff_link::server::Accepted << Self as ::riff_link::server::State > ::Change,
        $crate::__riff_4_2 >, ::riff_link::server::Refusal > }] [claim "command"
        "link.toml:46"
        "fn claim(&self, cx: &Cx<'_>, item: ItemId, body: Claim) -> Result<Accepted<Self::Change, Claimed>, Refusal>"
        2 { fn claim(& self, cx : & ::riff_link::server::Cx < '_ >, item :
        $crate::__riff_5_0, body : $crate::__riff_5_1) -> ::core::result::Result <
        ::riff_link::server::Accepted << Self as ::riff_link::server::State > ::Change,
        $crate::__riff_5_2 >, ::riff_link::server::Refusal > }] [release "command"
        "link.toml:51"
        "fn release(&self, cx: &Cx<'_>, item: ItemId, body: Release) -> Result<Accepted<Self::Change, Released>, Refusal>"
        2 { fn release(& self, cx : & ::riff_link::server::Cx < '_ >, item :
        $crate::__riff_6_0, body : $crate::__riff_6_1) -> ::core::result::Result <
        ::riff_link::server::Accepted << Self as ::riff_link::server::State > ::Change,
        $crate::__riff_6_2 >, ::riff_link::server::Refusal > }] [ack "command"
        "link.toml:56"
        "fn ack(&self, cx: &Cx<'_>, thread: Thread, body: Ack) -> Result<Accepted<Self::Change, Acked>, Refusal>"
        2 { fn ack(& self, cx : & ::riff_link::server::Cx < '_ >, thread :
        $crate::__riff_7_0, body : $crate::__riff_7_1) -> ::core::result::Result <
        ::riff_link::server::Accepted << Self as ::riff_link::server::State > ::Change,
        $crate::__riff_7_2 >, ::riff_link::server::Refusal > }] [alive "signal"
        "link.toml:61"
        "fn alive(&self, cx: &Cx<'_>, body: Alive) -> Result<Asks, Refusal>" 1 { fn
        alive(& self, cx : & ::riff_link::server::Cx < '_ >, body : $crate::__riff_8_0)
        -> ::core::result::Result < $crate::__riff_8_1, ::riff_link::server::Refusal > }]
        [tail "stream" "link.toml:66"
        "fn tail(&self, cx: &Cx<'_>, thread: Thread) -> Result<Events<Self::Change, Message>, Refusal>"
        1 { fn tail(& self, cx : & ::riff_link::server::Cx < '_ >, thread :
        $crate::__riff_9_0) -> ::core::result::Result < ::riff_link::server::Events <<
        Self as ::riff_link::server::State > ::Change, $crate::__riff_9_1 >,
        ::riff_link::server::Refusal > }] [watch "stream" "link.toml:72"
        "fn watch(&self, cx: &Cx<'_>) -> Result<Events<Self::Change, Changed>, Refusal>"
        0 { fn watch(& self, cx : & ::riff_link::server::Cx < '_ >) ->
        ::core::result::Result < ::riff_link::server::Events << Self as
        ::riff_link::server::State > ::Change, $crate::__riff_10_0 >,
        ::riff_link::server::Refusal > }] } { $($item)* } }
    };
}
#[doc(hidden)]
pub use __riff_handlers as RiffHandlers;
