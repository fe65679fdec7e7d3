//! The table of a model: what each row is expected to say, and what it said.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZero;
use std::thread;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::endless;

/// A model that has a table.
pub(crate) trait Checked:
    Model<
        State: Debug + Hash + PartialEq + Clone + Send + Sync + 'static,
        Action: Debug + Clone + PartialEq + Send + Sync + 'static,
    > + Clone
    + Send
    + Sync
    + 'static
{
    const NAME: &'static str;
    /// What a control takes away.
    type Protection;

    /// Fills its table.
    fn fill(table: &mut Table<Self>);

    /// The same model without a protection.
    fn without(&self, protection: Self::Protection) -> Self;

    /// Whether nothing can happen any more.
    fn is_over(&self, state: &Self::State) -> bool {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        actions.is_empty()
    }
}

/// A claim, or a control that takes one protection away and has to break a property.
struct Row<M> {
    name: &'static str,
    model: M,
    breaks: Option<&'static str>,
}

/// The rows of a model.
pub(crate) struct Table<M> {
    /// Without the claims that take long.
    quick: bool,
    rows: Vec<Row<M>>,
}

impl<M: Checked> Table<M> {
    fn of(quick: bool) -> Self {
        let rows = Vec::new();
        let mut table = Table { quick, rows };
        M::fill(&mut table);
        table
    }

    fn add(&mut self, name: &'static str, model: M, breaks: Option<&'static str>) {
        self.rows.push(Row {
            name,
            model,
            breaks,
        });
    }

    /// The model has all its properties.
    pub(crate) fn claim(&mut self, name: &'static str, model: M) {
        self.add(name, model, None);
    }

    /// The same, with bounds that take long.
    pub(crate) fn long_claim(&mut self, name: &'static str, model: M) {
        if !self.quick {
            self.claim(name, model);
        }
    }

    /// Without this protection the model breaks the property.
    pub(crate) fn control(
        &mut self,
        name: &'static str,
        model: &M,
        without: M::Protection,
        breaks: &'static str,
    ) {
        self.add(name, model.without(without), Some(breaks));
    }
}

/// Prints the header of the table.
pub(crate) fn header() {
    println!(
        "{:8} {:32} {:>10} {:>5} {:>7}  verdict",
        "model", "variant", "states", "depth", "seconds"
    );
}

/// The choice of what to check.
pub(crate) struct Run {
    /// With small bounds.
    pub(crate) quick: bool,
    /// With a path to what breaks.
    pub(crate) explain: bool,
    /// Models and rows; all where there are none.
    pub(crate) names: Vec<String>,
}

/// What became of a model's rows.
pub(crate) struct Checks {
    pub(crate) rows: usize,
    /// How many said otherwise than expected.
    pub(crate) wrong: usize,
}

impl Run {
    fn has<M: Checked>(&self, row: &Row<M>) -> bool {
        let full = format!("{}:{}", M::NAME, row.name);
        let named = |name: &String| *name == M::NAME || *name == full;
        self.names.is_empty() || self.names.iter().any(named)
    }
}

/// Checks the rows of a model.
pub(crate) fn check<M: Checked>(run: &Run) -> Checks {
    let Table { rows, .. } = Table::<M>::of(run.quick);
    let mut checks = Checks { rows: 0, wrong: 0 };
    for property in uncontrolled(&rows) {
        println!("{:8} no control breaks: {property}", M::NAME);
        checks.wrong += 1;
    }
    for row in rows.into_iter().filter(|row| run.has(row)) {
        checks.rows += 1;
        checks.wrong += usize::from(!holds(row, run.explain));
    }
    checks
}

/// Properties that no control breaks: they might hold because they cannot fail.
fn uncontrolled<M: Model>(rows: &[Row<M>]) -> BTreeSet<&'static str> {
    let names = |properties: Vec<Property<M>>| properties.into_iter().map(|it| it.name);
    let mut all: BTreeSet<_> = rows
        .iter()
        .flat_map(|row| names(row.model.properties()))
        .collect();
    rows.iter().filter_map(|row| row.breaks).for_each(|broken| {
        all.remove(broken);
    });
    all
}

/// Whether a row says what is expected of it.
fn holds<M: Checked>(row: Row<M>, explain: bool) -> bool {
    let Row {
        name,
        model,
        breaks,
    } = row;
    let began = Instant::now();
    let until = match breaks {
        Some(property) => HasDiscoveries::AnyOf(BTreeSet::from([property])),
        None => HasDiscoveries::AnyFailures,
    };
    let goes_round = breaks.is_none() && endless::goes_round(&model);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let checker = model.checker().threads(threads).finish_when(until);
    let checker = checker.spawn_bfs().join();
    let found = checker.discoveries();
    let expected = match breaks {
        Some(property) => found.contains_key(property),
        None => found.is_empty() && !goes_round,
    };
    let verdict = match (expected, breaks) {
        (true, None) => "holds".to_owned(),
        (false, None) if goes_round => "GOES ROUND without end".to_owned(),
        (true, Some(property)) => format!("breaks, as expected: {property}"),
        (false, None) => format!(
            "BREAKS: {}",
            found.keys().copied().collect::<Vec<_>>().join(", ")
        ),
        (false, Some(property)) => format!("HOLDS, and should break: {property}"),
    };
    println!(
        "{:8} {name:32} {:>10} {:>5} {:>7.1}  {verdict}",
        M::NAME,
        checker.unique_state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64()
    );
    if explain && let Some((property, path)) = found.into_iter().next() {
        println!("  {property}:");
        let last = path.last_state().clone();
        for action in path.into_actions() {
            println!("    {action:?}");
        }
        println!("    {last:?}");
    }
    expected
}
