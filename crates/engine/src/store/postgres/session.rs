//! How is the database asked? One statement of [`statements`](super::statements) at a time, or
//! several at once, each prepared once and given only so much time.

use std::{collections::HashMap, pin::pin, sync::Arc, time::Duration};

use futures_util::{TryStreamExt, future::try_join_all};
use tokio::{runtime::Handle, sync::watch, time::timeout};
use tokio_postgres::{
    Client, Row, SimpleQueryMessage, Statement,
    types::{BorrowToSql, ToSql},
};

use super::{
    super::{StoreError, Trouble},
    outlook::Outlook,
    statements::Sql,
};

/// A value of a statement.
pub(super) type Value<'a> = &'a (dyn ToSql + Sync);
/// A value that lives until the statement is sent.
pub(super) type OwnedValue = Box<dyn ToSql + Sync + Send>;

/// What takes longer will never end.
const PATIENT: Duration = Duration::from_secs(7 * 86_400);

/// One connection, used by one thread at a time.
pub(super) struct Session {
    client: Client,
    prepared: HashMap<Sql, Statement>,
    handle: Handle,
    limit: Duration,
    /// Told when the database is lost: there is no use in waiting any longer.
    lost: watch::Receiver<bool>,
    outlook: Arc<Outlook>,
    /// The generation of connections it belongs to.
    generation: u64,
    in_transaction: bool,
    /// Whether it has committed something.
    has_written: bool,
    /// What was asked may still be under way: nobody may ask again.
    is_broken: bool,
}

impl Session {
    pub(super) fn new(
        client: Client,
        handle: Handle,
        limit: Duration,
        outlook: Arc<Outlook>,
        generation: u64,
    ) -> Self {
        Self {
            client,
            prepared: HashMap::new(),
            handle,
            limit,
            lost: outlook.watch(),
            outlook,
            generation,
            in_transaction: false,
            has_written: false,
            is_broken: false,
        }
    }

    /// Whether it can be used again.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_broken && !self.client.is_closed() && self.generation == self.outlook.generation()
    }

    /// Leaves the session to be closed.
    pub(super) fn give_up(&mut self) {
        self.is_broken = true;
    }

    /// From now on statements may take as long as they do.
    pub(super) fn be_patient(&mut self) -> Result<(), StoreError> {
        self.control("SET statement_timeout = 0; SET lock_timeout = 0")?;
        self.limit = PATIENT;
        Ok(())
    }

    /// Begins a transaction.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        self.begin_with("BEGIN")
    }

    /// Begins a transaction that sees one state and changes nothing.
    pub(super) fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Begins a transaction with these statements, of which the first is `BEGIN`.
    pub(super) fn begin_with(&mut self, statements: &str) -> Result<(), StoreError> {
        self.in_transaction = true;
        let begun = self.control(statements);
        if begun.is_err() {
            self.roll_back();
        }
        begun
    }

    /// Makes the transaction durable. However bad it looks, the answer is waited for: nobody else
    /// knows whether it happened.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        let Self { client, handle, limit, in_transaction, is_broken, .. } = self;
        *in_transaction = false;
        if client.is_closed() {
            return Err(StoreError::away("the connection was lost before the commit"));
        }
        let done = handle.block_on(async { timeout(*limit, client.batch_execute("COMMIT")).await });
        settle(done.map_err(|_| Unanswered), is_broken).map_err(StoreError::in_a_commit)?;
        self.has_written = true;
        Ok(())
    }

    /// Takes the transaction back, if there is one.
    pub(super) fn roll_back(&mut self) {
        let was_in_one = std::mem::replace(&mut self.in_transaction, false);
        if was_in_one && self.is_usable() && self.control("ROLLBACK").is_err() {
            self.give_up();
        }
    }

    /// Looks what an error says of the connection: one to a server that does not take writes is of
    /// no use to a writer, and if it took writes before, nor are others to that server.
    fn examine<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        if done.as_ref().is_err_and(|error| error.trouble() == Trouble::ReadOnly) {
            self.give_up();
            if self.has_written {
                self.outlook.demoted(self.generation);
            }
        }
        done
    }

    /// Something that is neither prepared nor about a shop: transactions, settings, migrations.
    pub(super) fn control(&mut self, text: &str) -> Result<(), StoreError> {
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let done = handle.block_on(within(*limit, lost, client.batch_execute(text)));
        settle(done, is_broken)
    }

    /// The first value that an unprepared question is answered with, as text.
    pub(super) fn simple(&mut self, text: &str) -> Result<Option<String>, StoreError> {
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let answer = handle.block_on(within(*limit, lost, client.simple_query(text)));
        let messages = settle(answer, is_broken)?;
        Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    /// The rows that a statement finds.
    pub(super) fn query(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(sql)?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let found = handle.block_on(within(*limit, lost, client.query(&statement, values)));
        let found = settle(found, is_broken);
        self.examine(found)
    }

    /// The one row that a statement finds, if it finds one.
    pub(super) fn query_opt(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values)?.pop())
    }

    /// The one row that a statement always finds.
    pub(super) fn query_one(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
        let found = self.query_opt(sql, values)?;
        found.ok_or_else(|| StoreError::damaged(format!("{}: no row", sql.name())))
    }

    /// How many rows a statement changed.
    pub(super) fn execute(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.prepare(sql)?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let changed = handle.block_on(within(*limit, lost, client.execute(&statement, values)));
        let changed = settle(changed, is_broken);
        self.examine(changed)
    }

    /// Sends several statements at once, in order, and waits for all of them.
    pub(super) fn execute_all(&mut self, all: &[(Sql, Vec<OwnedValue>)]) -> Result<(), StoreError> {
        let statements =
            all.iter().map(|(sql, _)| self.prepare(*sql)).collect::<Result<Vec<_>, _>>()?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let sent = all.iter().zip(&statements).map(|((_, values), statement)| {
            let values = values.iter().map(|value| &**value as &(dyn ToSql + Sync));
            client.execute_raw(statement, values.collect::<Vec<_>>())
        });
        let done = handle.block_on(within(*limit, lost, try_join_all(sent)));
        let done = settle(done, is_broken).map(drop);
        self.examine(done)
    }

    /// Hands the rows that a statement finds to `visit`, as they come. The time is for each.
    pub(super) fn for_each(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
        mut visit: impl FnMut(&Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = self.prepare(sql)?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let values = values.iter().map(|value| value.borrow_to_sql());
        let visited = handle.block_on(async {
            let rows = client.query_raw(&statement, values);
            let mut rows = pin!(settle(within(*limit, lost, rows).await, is_broken)?);
            while let Some(row) = settle(within(*limit, lost, rows.try_next()).await, is_broken)? {
                visit(&row)?;
            }
            Ok(())
        });
        if visited.is_err() {
            // The rest of the rows may still be on their way.
            self.give_up();
        }
        visited
    }

    fn prepare(&mut self, sql: Sql) -> Result<Statement, StoreError> {
        if let Some(statement) = self.prepared.get(&sql) {
            return Ok(statement.clone());
        }
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let prepared = handle.block_on(within(*limit, lost, client.prepare(sql.text())));
        let statement = settle(prepared, is_broken)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// No answer came in time, or none will.
struct Unanswered;

/// Waits for an answer for so long, and no longer than anybody believes in one.
async fn within<T>(
    limit: Duration,
    lost: &mut watch::Receiver<bool>,
    answer: impl Future<Output = T>,
) -> Result<T, Unanswered> {
    tokio::select! {
        // What has come has come.
        biased;
        answered = timeout(limit, answer) => answered.map_err(|_| Unanswered),
        Ok(_) = lost.wait_for(|is_lost| *is_lost) => Err(Unanswered),
    }
}

/// Tells what came back from what came too late.
fn settle<T>(
    done: Result<Result<T, tokio_postgres::Error>, Unanswered>,
    is_broken: &mut bool,
) -> Result<T, StoreError> {
    match done {
        Ok(done) => Ok(done?),
        Err(Unanswered) => {
            *is_broken = true;
            Err(StoreError::away("it did not answer in time"))
        }
    }
}
