//! The table in SQLite: a file with a write-ahead log that is synced at each commit
//! (`synchronous=FULL`), and one connection that writes.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::{
    peer::Up,
    place,
    table::{self, Answer, Call, Table},
};

const TABLES: &str = "
    pragma journal_mode = wal;
    pragma synchronous = full;
    create table threads (name text primary key, messages integer not null) without rowid;
    create table messages (thread text not null, number integer not null, caller text not null,
        title text not null, text text not null, primary key (thread, number)) without rowid;
    create table calls (caller text not null, key text not null, fingerprint blob not null,
        reply blob not null, primary key (caller, key)) without rowid;
";

/// The connection that writes, one at a time.
struct Sqlite {
    writer: Arc<Mutex<Connection>>,
}

pub(crate) async fn serve() -> Result<Up, String> {
    let dir = place::directory()?;
    let open = || {
        let connection = Connection::open(dir.path().join("board.db"))?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    };
    let connection = open().map_err(|error: rusqlite::Error| error.to_string())?;
    let table = Sqlite {
        writer: Arc::new(Mutex::new(connection)),
    };
    Ok(Up {
        at: table::serve(table).await?,
        held: Box::new(dir),
    })
}

impl Table for Sqlite {
    async fn say(&self, call: Call) -> Result<Answer, String> {
        let writer = Arc::clone(&self.writer);
        let ran = tokio::task::spawn_blocking(move || {
            // A transaction that a panic left is rolled back.
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            run(&mut writer, &call)
        });
        ran.await.map_err(|error| error.to_string())?
    }
}

fn run(writer: &mut Connection, call: &Call) -> Result<Answer, String> {
    let told = |error: rusqlite::Error| error.to_string();
    let begun = writer.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(told)?;
    let known = transaction
        .prepare_cached("select fingerprint, reply from calls where caller = ?1 and key = ?2")
        .and_then(|mut look| {
            look.query_row((&call.caller, &call.key), |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?))
            })
            .optional()
        });
    if let Some((fingerprint, reply)) = known.map_err(told)? {
        return Ok(table::kept(call, &fingerprint, reply));
    }
    let said = &call.said;
    let number: rusqlite::Result<i64> = transaction
        .prepare_cached(
            "insert into threads values (?1, 1) \
             on conflict (name) do update set messages = messages + 1 returning messages",
        )
        .and_then(|mut count| count.query_row([&said.thread], |row| row.get(0)));
    let number = number.map_err(told)?;
    let reply = table::reply(number)?;
    transaction
        .prepare_cached("insert into messages values (?1, ?2, ?3, ?4, ?5)")
        .and_then(|mut insert| {
            insert.execute((&said.thread, number, &call.caller, &said.title, &said.text))
        })
        .map_err(told)?;
    transaction
        .prepare_cached("insert into calls values (?1, ?2, ?3, ?4)")
        .and_then(|mut keep| keep.execute((&call.caller, &call.key, &call.fingerprint, &reply)))
        .map_err(told)?;
    transaction.commit().map_err(told)?;
    Ok(Answer::Reply(reply))
}
