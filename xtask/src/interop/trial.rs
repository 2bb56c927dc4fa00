//! The trial itself: one server, and every program with its letters over each transport, some programs at once. And the
//! question whether a program really looks at the certificate: shown another one to trust, it must not send or read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::Kind;
use super::corpus::Letter;
use super::matrix::{Cell, Matrix, Row};
use super::plan::Plan;
use super::program::{Outcome, Program, Transport};
use super::site::{self, Doors, Site};

/// So many programs run at once: most of them wait for the server most of the time.
const AT_ONCE: usize = 3;
/// How the matrix calls the question of the certificate.
const STRANGER: &str = "certificate-of-a-stranger";

/// Try all programs of these kinds with the letters of the plan.
pub(super) fn run(binary: &Path, kinds: &[Kind], plan: &Plan) -> Result<Matrix> {
    let folder = std::env::temp_dir().join(format!("postkeep-interop-{}", std::process::id()));
    let stranger = certificate(binary, &folder.join("stranger"))?;
    let (server, doors, trust) = site::server(binary, &folder)?;
    let trial = Trial { binary, doors, trust, stranger, folder: folder.clone(), plan };
    let matrix = trial.matrix(kinds);
    server.stop().context("the server did not end well after all programs had gone")?;
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    Ok(matrix)
}

/// A certificate for the same name that our server does not have: another one's.
fn certificate(binary: &Path, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let (other, _, certificate) = site::server(binary, folder)?;
    other.stop()?;
    Ok(certificate)
}

/// One running server and what every program needs besides.
struct Trial<'a> {
    binary: &'a Path,
    doors: Doors,
    trust: PathBuf,
    /// A certificate that the server does not have.
    stranger: PathBuf,
    folder: PathBuf,
    plan: &'a Plan,
}

impl Trial<'_> {
    /// A row for each program, under the title of its kind.
    fn matrix(&self, kinds: &[Kind]) -> Matrix {
        let programs: Vec<_> = kinds.iter().flat_map(|kind| &kind.programs).map(AsRef::as_ref).collect();
        let mut rows = self.rows(&programs).into_iter();
        Matrix(kinds.iter().map(|kind| (kind.title, rows.by_ref().take(kind.programs.len()).collect())).collect())
    }

    /// In the order of the programs, although none waits for the one before it.
    fn rows(&self, programs: &[&dyn Program]) -> Vec<Row> {
        let (next, rows) = (Mutex::new(programs.iter().enumerate()), Mutex::new(Vec::new()));
        let take = || next.lock().expect("no thread panicked").next();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some((at, program)) = take() {
                        let row = self.row(*program);
                        rows.lock().expect("no thread panicked").push((at, row));
                    }
                });
            }
        });
        let mut rows = rows.into_inner().expect("no thread panicked");
        rows.sort_by_key(|(at, _)| *at);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn row(&self, program: &dyn Program) -> Row {
        let (name, version) = (program.name(), program.version());
        let cell = |transport| match &version {
            Ok(_) => self.cell(program, transport),
            Err(why) => Cell::Never(why.clone()),
        };
        let begin = Instant::now();
        let cells = Transport::ALL.map(cell);
        let row = Row { name, version, cells };
        println!("{}  {:.1} s", row.line(), begin.elapsed().as_secs_f64());
        row
    }

    fn cell(&self, program: &dyn Program, transport: Transport) -> Cell {
        if let Some(why) = program.refuses(transport) {
            return Cell::Never(why.into());
        }
        let letters = self.plan.letters(program, transport);
        let tried = self.letters(program, transport, &self.trust, &letters);
        let tried = tried.map(|mut outcomes| {
            if transport != Transport::Plain && self.trusts_anybody(program, transport, &letters[..1]) {
                let what = "it goes on although the server has another certificate than the one to trust";
                outcomes.push((STRANGER, Outcome::Wrong(what.into())));
            }
            outcomes
        });
        match tried {
            Ok(outcomes) => Cell::Tried(outcomes),
            Err(error) => Cell::Failed(format!("{error:#}")),
        }
    }

    fn letters(
        &self,
        program: &dyn Program,
        transport: Transport,
        trust: &Path,
        letters: &[Letter],
    ) -> Result<Outcomes> {
        let folder = self.folder.join(format!("{}-{}", program.name(), transport.word()));
        fs::create_dir_all(&folder)?;
        let site = Site { doors: self.doors, binary: self.binary.into(), trust: trust.into(), folder };
        let outcomes = program.run(&site, transport, letters);
        fs::remove_dir_all(&site.folder)?;
        let outcomes = outcomes?;
        ensure!(outcomes.len() == letters.len(), "{} letters, {} outcomes", letters.len(), outcomes.len());
        Ok(letters.iter().map(|letter| letter.name).zip(outcomes).collect())
    }

    /// Whether a letter goes its way under a stranger's certificate. That the program fails is what is hoped for.
    fn trusts_anybody(&self, program: &dyn Program, transport: Transport, letters: &[Letter]) -> bool {
        let outcomes = self.letters(program, transport, &self.stranger, letters).unwrap_or_default();
        outcomes.iter().any(|(_, outcome)| *outcome == Outcome::Equal)
    }
}

/// Letters by name, and how each went.
type Outcomes = Vec<(&'static str, Outcome)>;
