//! The golden matrix through the API. Everything that belongs to today's API is in `Door`.
#![cfg(all(feature = "sqlite", feature = "models"))]

use formulanet as api;
use formulanet::analyze::Analyzer;
use formulanet::lean::{LeanIndex, LeanQuery, LeanSelector};
use formulanet::library::Learned;
use formulanet::logic::Limits;
use formulanet::logic::hol::Overload;
use formulanet::net::Precision;
use formulanet::problem::ProblemOptions;
use formulanet::read::{Source, read_proofs};
use formulanet::{
    Cancel, CorpusBuilder, Engine, Goal, GoalFormula, Policy, Problem, Query, Ranking, Residency, Take,
};
use formulanet::{Language, Library};
use formulanet_testing::Folder;
use formulanet_testing::golden::{
    self, Command, Duplicates, LibraryFiles, Order, Rerank, Scenario, Symbols, hit, repository,
};
use serde_json::Value;

#[test]
fn answers_are_those_of_the_recording() {
    let (matrix, door) = (golden::matrix(), Door::new());
    matrix.libraries.iter().for_each(|files| door.make(files));
    let scenarios = matrix.scenarios.iter().filter(|scenario| scenario.is_for("rust"));
    golden::check("rust", scenarios.map(|scenario| (scenario, door.answer(scenario))).collect());
}

/// An engine and libraries, each made once.
struct Door {
    folder: Folder,
    engine: Engine,
}

impl Door {
    fn new() -> Self {
        // Neither one thread, as the server has, nor as many as the program would take.
        let engine = Engine::builder().precision(Precision::F32).threads(3).build().unwrap();
        Door { folder: Folder::new(), engine }
    }

    fn source(path: &str) -> Source {
        Source::open(&repository(path).to_string_lossy()).unwrap()
    }

    fn make(&self, files: &LibraryFiles) {
        let path = self.folder.path(&files.name);
        let model = self.engine.model_for(Self::source(&files.files[0]).language()).unwrap();
        let mut analyzer = Analyzer::new(&model.retriever);
        Library::build(&path, &model.retriever, &model.name, |addition| {
            for file in &files.files {
                for premise in analyzer.read(Self::source(file))? {
                    addition.push(premise?)?;
                }
            }
            Ok(())
        })
        .unwrap();
        let mut library = Library::open(&path).unwrap();
        if let Some(proofs) = &files.proofs {
            let _: Learned =
                library.learn(&read_proofs(&repository(proofs).to_string_lossy()).unwrap(), false).unwrap();
        }
        if let Some(reranker) = &files.reranker {
            library.set_fitted_reranker(Some(&std::fs::read(repository(reranker)).unwrap())).unwrap();
        }
    }

    /// The engine with the models that a scenario names.
    fn engine(&self, s: &Scenario) -> Engine {
        if s.model.is_none() && s.reranker.is_none() {
            return self.engine.clone();
        }
        let mut builder = Engine::builder().precision(Precision::F32).threads(3);
        if let Some(model) = &s.model {
            let file = repository(&format!("models/{model}/model.safetensors"));
            builder = builder.model(file.to_string_lossy());
        }
        if let Some(reranker) = &s.reranker {
            builder = builder.reranker(repository(reranker).to_string_lossy());
        }
        builder.build().unwrap()
    }

    fn answer(&self, s: &Scenario) -> Vec<String> {
        match s.command {
            Command::Rank => self.rank(s),
            Command::Select => self.select(s),
            Command::Neighbors => self.neighbors(s),
            Command::Lean => self.lean(s),
            Command::Hammer | Command::Theory => panic!("{}: not asked through the API", s.id),
        }
    }

    /// The files and the library of a scenario.
    fn parts<'a>(
        &self,
        mut builder: CorpusBuilder<'a>,
        s: &Scenario,
        library: &'a std::path::Path,
    ) -> CorpusBuilder<'a> {
        if s.library.is_some() {
            builder = builder.library(library, Residency::Streamed);
        }
        s.files().fold(builder, |builder, file| builder.source(Self::source(file)))
    }

    fn library(&self, s: &Scenario) -> std::path::PathBuf {
        self.folder.path(s.library.as_deref().unwrap_or("none"))
    }

    fn goal(s: &Scenario) -> Goal {
        if let Some(name) = &s.goal_name {
            return Goal::Stored(name.clone());
        }
        let named = |name: &String| Overload::ALL.iter().find(|(known, _)| known == name).unwrap().1;
        let mut goal =
            GoalFormula { text: s.formula().into(), source: "goal".into(), ..GoalFormula::default() };
        goal.language = s.overload.as_ref().map(|name| Language::HolWith(named(name)));
        goal.constants.clone_from(&s.constants);
        goal.into()
    }

    fn query(s: &Scenario, query: Query, policy: Policy) -> Query {
        let order = match s.order {
            Some(Order::Probability) => api::Order::Probability,
            Some(Order::Lift) => api::Order::Lift,
            None => policy.order,
        };
        let rerank = match s.rerank {
            Rerank::Auto => api::Rerank::Auto,
            Rerank::On => api::Rerank::On,
            Rerank::Off => api::Rerank::Off,
        };
        let symbols = match s.symbols {
            Symbols::Named => api::Symbols::Named,
            Symbols::Anonymous => api::Symbols::Anonymous,
        };
        let duplicates = match s.duplicates {
            Duplicates::Drop => api::Duplicates::Drop,
            Duplicates::Keep => api::Duplicates::Keep,
        };
        let mut query = query
            .modules(s.modules.clone())
            .duplicates(duplicates)
            .policy(policy.order(order).rerank(rerank).symbols(symbols))
            .take(Take::new(s.k, s.min_score, s.include.clone(), s.exclude.clone()));
        if let Some(before) = &s.before {
            query = query.before(before);
        }
        if s.explain { query.explain() } else { query }
    }

    fn rank(&self, s: &Scenario) -> Vec<String> {
        let (engine, library) = (self.engine(s), self.library(s));
        let corpus = self.parts(engine.corpus(), s, &library).build().unwrap();
        let query = Self::query(s, Query::new(Self::goal(s)), Policy::for_people());
        hits(&engine.rank(&corpus, &query).unwrap())
    }

    fn select(&self, s: &Scenario) -> Vec<String> {
        let (engine, library) = (self.engine(s), self.library(s));
        let mut options = ProblemOptions::default();
        if let Some(roles) = &s.keep_roles {
            options.keep_roles.clone_from(roles);
        }
        let model = engine.model_for(Language::Tptp).unwrap();
        let problem =
            Problem::read(Self::source(s.problem.as_ref().unwrap()), &model.retriever, &options).unwrap();
        let corpus = self.parts(engine.corpus(), s, &library).problem(&problem).build().unwrap();
        let query = problem.query();
        let policy = query.policy;
        hits(&engine.rank(&corpus, &Self::query(s, query, policy)).unwrap())
    }

    fn neighbors(&self, s: &Scenario) -> Vec<String> {
        let (engine, library) = (self.engine(s), self.library(s));
        let corpus = self.parts(engine.corpus(), s, &library).build().unwrap();
        let model = corpus.model();
        let formula =
            Analyzer::new(&model.retriever).analyze("goal", s.formula(), corpus.language()).unwrap();
        let closest = engine.neighbors(&corpus, &formula.encoded, s.k, &Cancel::never()).unwrap();
        closest.iter().map(|found| hit(&found.statement.name, found.score)).collect()
    }

    fn lean(&self, s: &Scenario) -> Vec<String> {
        let path = repository("fixtures/lean/library.jsonl");
        let index = LeanIndex::read(&path.to_string_lossy(), Limits::default()).unwrap();
        let selector = LeanSelector::new(index, Limits::default(), 1 << 20);
        let text = std::fs::read_to_string(repository(s.question.as_ref().unwrap())).unwrap();
        let asked: Value = serde_json::from_str(&text).unwrap();
        let places = |field: &str, find: &dyn Fn(&str) -> Option<usize>| -> Vec<usize> {
            let place = |place: &Value| match place.as_u64() {
                Some(number) => Some(number as usize),
                None => find(place.as_str().unwrap()),
            };
            asked[field].as_array().unwrap().iter().filter_map(place).collect()
        };
        let modules = places("imported_modules", &|name| selector.index().module(name));
        let local = places("local_premises", &|name| selector.index().place(name));
        let new = asked["new_premises"].as_array().unwrap().iter();
        let new: Vec<(&str, &str)> = new
            .map(|premise| (premise["name"].as_str().unwrap(), premise["decl"].as_str().unwrap()))
            .collect();
        let state = asked["state"].as_str().unwrap();
        let question = LeanQuery { state, modules: &modules, local: &local, new: &new };
        let best = selector
            .best(self.engine.built_in_reranker().unwrap().as_deref(), &question, s.k, &Cancel::never())
            .unwrap();
        best.iter().map(|ranked| hit(&ranked.name, ranked.score)).collect()
    }
}

fn hits(ranking: &Ranking) -> Vec<String> {
    ranking.hits.iter().map(|found| hit(&found.statement.name, found.score)).collect()
}
