//! A connection that runs the prepared [`statements`](super::statements), one at a time or
//! pipelined, each with a time limit.

use std::{collections::HashMap, pin::pin, sync::Arc, time::Duration};

use futures_util::{TryStreamExt, future::join_all};
use tokio::{runtime::Handle, sync::watch, time::timeout};
use tokio_postgres::{
    Client, Row, SimpleQueryMessage, Statement,
    types::{BorrowToSql, ToSql},
};

use super::{
    super::{StoreError, StoreErrorKind},
    availability::Availability,
    statements::Sql,
};

/// A parameter of a statement.
pub(super) type Value<'a> = &'a (dyn ToSql + Sync);
/// A parameter that is owned until the statement is sent.
pub(super) type OwnedValue = Box<dyn ToSql + Sync + Send>;

/// Practically no limit, for statements on large tables.
const UNLIMITED: Duration = Duration::from_secs(7 * 86_400);

/// One connection, used by one thread at a time.
pub(super) struct Session {
    client: Client,
    prepared: HashMap<Sql, Statement>,
    handle: Handle,
    limit: Duration,
    /// Signals that the database became unavailable, which ends all waits.
    lost: watch::Receiver<bool>,
    availability: Arc<Availability>,
    /// The generation of connections that it belongs to.
    generation: u64,
    in_transaction: bool,
    /// Whether it has committed a transaction.
    has_written: bool,
    /// A statement may still be running, so the connection must not be used again.
    is_broken: bool,
}

impl Session {
    pub(super) fn new(
        client: Client,
        handle: Handle,
        limit: Duration,
        availability: Arc<Availability>,
        generation: u64,
    ) -> Self {
        Self {
            client,
            prepared: HashMap::new(),
            handle,
            limit,
            lost: availability.watch(),
            availability,
            generation,
            in_transaction: false,
            has_written: false,
            is_broken: false,
        }
    }

    /// Whether the connection can be used again.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_broken
            && !self.client.is_closed()
            && self.generation == self.availability.generation()
    }

    /// Marks the connection to be closed.
    pub(super) fn mark_broken(&mut self) {
        self.is_broken = true;
    }

    /// Removes the time limit of later statements.
    pub(super) fn remove_time_limits(&mut self) -> Result<(), StoreError> {
        self.control("SET statement_timeout = 0; SET lock_timeout = 0")?;
        self.limit = UNLIMITED;
        Ok(())
    }

    /// Begins a transaction.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        self.begin_with("BEGIN")
    }

    /// Begins a read-only transaction that sees one snapshot.
    pub(super) fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Begins a transaction with these statements, the first of which is `BEGIN`.
    pub(super) fn begin_with(&mut self, statements: &str) -> Result<(), StoreError> {
        self.in_transaction = true;
        let begun = self.control(statements);
        if begun.is_err() {
            self.roll_back();
        }
        begun
    }

    /// Makes the transaction durable. Waits for the response even while the database seems
    /// unavailable, because only the response tells whether it was committed.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        let Self { client, handle, limit, in_transaction, is_broken, .. } = self;
        *in_transaction = false;
        if client.is_closed() {
            return Err(StoreError::unavailable("the connection was lost before the commit"));
        }
        let done = handle.block_on(async { timeout(*limit, client.batch_execute("COMMIT")).await });
        response(done.map_err(|_| NoResponse), is_broken).map_err(StoreError::during_commit)?;
        self.has_written = true;
        Ok(())
    }

    /// Rolls the transaction back, if there is one.
    pub(super) fn roll_back(&mut self) {
        let was_in_one = std::mem::replace(&mut self.in_transaction, false);
        if was_in_one && self.is_usable() && self.control("ROLLBACK").is_err() {
            self.mark_broken();
        }
    }

    /// Evaluates what an error implies for the connection: a connection to a read-only server is of
    /// no use to a writer, and if the server accepted writes before, neither are other connections
    /// to it.
    fn note_read_only<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        if done.as_ref().is_err_and(|error| error.kind() == StoreErrorKind::ReadOnly) {
            self.mark_broken();
            if self.has_written {
                self.availability.report_demotion(self.generation);
            }
        }
        done
    }

    /// Runs statements that are neither prepared nor specific to a shop: transaction control,
    /// settings, migrations.
    pub(super) fn control(&mut self, text: &str) -> Result<(), StoreError> {
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let done = handle.block_on(within(*limit, lost, client.batch_execute(text)));
        response(done, is_broken)
    }

    /// The first value of the result of an unprepared query, as text.
    pub(super) fn simple(&mut self, text: &str) -> Result<Option<String>, StoreError> {
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let sent = handle.block_on(within(*limit, lost, client.simple_query(text)));
        let messages = response(sent, is_broken)?;
        Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    /// The rows of a query.
    pub(super) fn query(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(sql)?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let found = handle.block_on(within(*limit, lost, client.query(&statement, values)));
        let found = response(found, is_broken);
        self.note_read_only(found)
    }

    /// The row of a query that returns at most one.
    pub(super) fn query_opt(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values)?.pop())
    }

    /// The row of a query that always returns one.
    pub(super) fn query_one(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
        let found = self.query_opt(sql, values)?;
        found.ok_or_else(|| StoreError::unexpected(format!("{}: no row", sql.name())))
    }

    /// Runs a statement and returns the number of affected rows.
    pub(super) fn execute(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.prepare(sql)?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let changed = handle.block_on(within(*limit, lost, client.execute(&statement, values)));
        let changed = response(changed, is_broken);
        self.note_read_only(changed)
    }

    /// Sends several statements in a pipeline, in order, and waits for all of them.
    pub(super) fn execute_all(&mut self, all: &[(Sql, Vec<OwnedValue>)]) -> Result<(), StoreError> {
        let statements =
            all.iter().map(|(sql, _)| self.prepare(*sql)).collect::<Result<Vec<_>, _>>()?;
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let sent = all.iter().zip(&statements).map(|((_, values), statement)| {
            let values = values.iter().map(|value| &**value as &(dyn ToSql + Sync));
            client.execute_raw(statement, values.collect::<Vec<_>>())
        });
        // The first failure in their order is the cause; those after it fail with the transaction.
        let all = async { join_all(sent).await.into_iter().collect::<Result<Vec<_>, _>>() };
        let done = handle.block_on(within(*limit, lost, all));
        let done = response(done, is_broken).map(drop);
        self.note_read_only(done)
    }

    /// Calls `visit` with the rows of a query as they arrive. The time limit is for each row.
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
            let mut rows = pin!(response(within(*limit, lost, rows).await, is_broken)?);
            while let Some(row) = response(within(*limit, lost, rows.try_next()).await, is_broken)?
            {
                visit(&row)?;
            }
            Ok(())
        });
        if visited.is_err() {
            // The remaining rows may still be arriving.
            self.mark_broken();
        }
        visited
    }

    fn prepare(&mut self, sql: Sql) -> Result<Statement, StoreError> {
        if let Some(statement) = self.prepared.get(&sql) {
            return Ok(statement.clone());
        }
        let Self { client, handle, limit, lost, is_broken, .. } = self;
        let prepared = handle.block_on(within(*limit, lost, client.prepare(sql.text())));
        let statement = response(prepared, is_broken)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// The response did not arrive in time, or the database became unavailable.
struct NoResponse;

/// Waits for a response within a time limit, or until the database becomes unavailable.
async fn within<T>(
    limit: Duration,
    lost: &mut watch::Receiver<bool>,
    sent: impl Future<Output = T>,
) -> Result<T, NoResponse> {
    tokio::select! {
        // A response that has arrived counts.
        biased;
        received = timeout(limit, sent) => received.map_err(|_| NoResponse),
        Ok(_) = lost.wait_for(|is_lost| *is_lost) => Err(NoResponse),
    }
}

/// Maps a missing response to an error.
fn response<T>(
    done: Result<Result<T, tokio_postgres::Error>, NoResponse>,
    is_broken: &mut bool,
) -> Result<T, StoreError> {
    match done {
        Ok(done) => Ok(done?),
        Err(NoResponse) => {
            *is_broken = true;
            Err(StoreError::unavailable("the response timed out"))
        }
    }
}
