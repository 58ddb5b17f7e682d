//! Ingredients of target sources: sockets, maps and programs that Python has opened.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::columns::Rows;
use crate::compare::RoleNames;
use crate::encode::tables::Shape;
use crate::fields::Fields;
use crate::ledger::tables::WaitTables;
use crate::ledger::{Ledger, SharedKeeper, PATIENCE};
use crate::network::{Network, SharedAccounts};
use crate::procfs::Procfs;
use crate::slots::lock;
use crate::slots::Watcher;
use crate::source::{Join, ReadError, Source};
use crate::target::Sources;
use crate::taskstats::{Decoder, Kernel, SharedQuery, Taskstats};
use crate::walk::{Ask, CrossCheck, SharedWalker, Walk};

/// Walks of a check: enough for one question to taskstats, and a walk after it.
const CHECKED_WALKS: usize = 3;

/// Columns of a target, and their sources.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Names of the columns of the source, and of what each is made: a member of struct taskstats, or a
    /// key of /proc.
    pub base: Vec<(String, String)>,
    /// Names of all columns: those of the source, of the network, of the ledger.
    pub fields: Fields,
    /// Threads that began before this moment of CLOCK_MONOTONIC have delays only where they are not 0.
    pub delays_from_ns: i64,
    /// True if the network columns are counted by eBPF.
    pub network: bool,
    /// True if there may be a walk.
    pub walk: bool,
}

/// The means of all targets.
pub struct Kit {
    /// Root of /proc.
    pub procfs: PathBuf,
    /// Rule of roles without rules of a target.
    pub role_words: Vec<String>,
    /// Roles with totals of their own.
    pub max_roles: usize,
    /// Names of ended processes with rows of their own.
    pub max_names: usize,
    /// Tables that frames may carry.
    pub shapes: Vec<Shape>,
    /// Taskstats, if the kernel has it.
    pub taskstats: Option<(Kernel, SharedQuery)>,
    /// Walks, if the kernel has them.
    pub walker: Option<SharedWalker>,
    /// Ledgers, if they are kept.
    pub keeper: Option<SharedKeeper>,
    /// Tables beside ledgers, if ledgers are kept.
    pub wait_tables: Option<WaitTables>,
    /// Accounts of the network, if they are kept.
    pub accounts: Option<SharedAccounts>,
    /// First disagreement of a walk and taskstats; walks stay disabled after it.
    pub disagreement: OnceLock<String>,
}

impl Ask for Taskstats {
    fn ask(&mut self, tids: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        Taskstats::ask(self, tids, rows)
    }
}

impl Kit {
    /// Rule of roles of a target with rules of its own: patterns and roles.
    pub fn role_names(&self, rules: Vec<(String, String)>) -> RoleNames {
        RoleNames::new(self.role_words.iter().cloned(), rules)
    }

    /// Makes the sources of a target that is attached to at `attach_ns`, CLOCK_MONOTONIC. Returns as well who
    /// ledgers are kept for; None: nobody.
    ///
    /// # Errors
    /// Tells which column nobody has.
    pub fn sources(
        &self,
        columns: &Columns,
        attach_ns: i64,
    ) -> Result<(Sources, Option<Watcher>), String> {
        let (source, fallback) = self.source(columns)?;
        let mut joins: Vec<Box<dyn Join>> = Vec::new();
        let mut watcher = None;
        if columns.network {
            let accounts = self.accounts.as_ref().ok_or("no accounts of the network")?;
            let accounts = Arc::clone(accounts);
            joins.push(Box::new(Network::new(accounts, &columns.fields, self.procfs.clone())?));
        }
        if columns.fields.has_ledger() {
            let keeper = Arc::clone(self.keeper.as_ref().ok_or("no ledgers")?);
            let ledger = Ledger::new(keeper, &columns.fields, attach_ns, PATIENCE)?;
            watcher = Some(ledger.watcher());
            joins.push(Box::new(ledger));
        }
        Ok((Sources { source, fallback, joins }, watcher))
    }

    #[allow(clippy::type_complexity)]
    fn source(
        &self,
        columns: &Columns,
    ) -> Result<(Box<dyn Source>, Option<Box<dyn Source>>), String> {
        let keys = || columns.base.iter().map(|(_, key)| key.as_str());
        let Some((kernel, query)) = &self.taskstats else {
            return Ok((Box::new(Procfs::new(&self.procfs, keys())?), None));
        };
        let width = columns.base.len();
        let delays = columns.fields.delay_accounts & crate::fields::low_bits(width);
        let asker = |from_ns: i64| -> Result<Taskstats, String> {
            let decoder = Decoder::new(&kernel.layout, keys(), delays, from_ns)?;
            Ok(Taskstats::new(Arc::clone(query), decoder, &self.procfs))
        };
        let asking: Box<dyn Source> = Box::new(asker(columns.delays_from_ns)?);
        let disagreed = self.disagreement.get().is_some();
        let Some(walker) = self.walker.as_ref().filter(|_| columns.walk && !disagreed) else {
            return Ok((asking, None));
        };
        let names = columns.base.iter().map(|(name, _)| name.clone()).collect();
        let check = CrossCheck::new(Box::new(asker(0)?), names);
        let walk = Walk::new(Arc::clone(walker), width, delays, check);
        Ok((Box::new(walk), Some(asking)))
    }

    /// Walks one process some times, and compares with taskstats. Returns why it cannot be walked.
    ///
    /// # Errors
    /// Tells which column nobody has, or what the kernel refused.
    pub fn check_walk(
        &self,
        pid: u32,
        base: Vec<(String, String)>,
    ) -> Result<Option<String>, String> {
        let Some(walker) = &self.walker else { return Ok(Some("no program walks".into())) };
        let fields = Fields::new(base.iter().map(|(name, _)| name.clone()))?;
        let width = base.len();
        let columns =
            Columns { base, fields: fields.clone(), delays_from_ns: 0, network: false, walk: true };
        let mut source = self.source(&columns)?.0;
        let mut rows = Rows::new(width);
        for _ in 0..CHECKED_WALKS {
            rows.clear();
            match source.read(&[pid], &mut rows) {
                Ok(()) => {}
                Err(ReadError::Disagreement(text)) => {
                    return Ok(Some(format!(
                        "a walk of this collector and taskstats disagreed: {text}"
                    )))
                }
                Err(ReadError::Kernel(text)) => return Ok(Some(text)),
            }
        }
        let given = lock(walker).given();
        let missing: Vec<&str> = fields
            .names()
            .iter()
            .enumerate()
            .filter(|(column, _)| given >> column & 1 == 0)
            .map(|(_, name)| name.as_str())
            .collect();
        Ok((!missing.is_empty())
            .then(|| format!("the kernel's threads do not have {}", missing.join(", "))))
    }

    /// The decoder of exit records, for targets with these columns.
    ///
    /// # Errors
    /// Tells which column the kernel lacks.
    pub fn decoder(&self, columns: &Columns) -> Result<Option<Decoder>, String> {
        let Some((kernel, _)) = &self.taskstats else { return Ok(None) };
        let keys = columns.base.iter().map(|(_, key)| key.as_str());
        let delays = columns.fields.delay_accounts & crate::fields::low_bits(columns.base.len());
        Decoder::new(&kernel.layout, keys, delays, columns.delays_from_ns).map(Some)
    }

    /// Numbers that frames tell of all targets: calls of the network that were not counted, threads without
    /// a ledger.
    pub fn uncounted(&self) -> (u64, u64) {
        let calls = self.accounts.as_ref().map_or(0, |accounts| lock(accounts).uncounted_calls());
        let threads = self.keeper.as_ref().map_or(0, |keeper| lock(keeper).threads_without_slot());
        (calls, threads)
    }
}
