//! `carom solve`, `carom bench solvers`, `carom run --dump-problems`, `carom list solvers`.

use crate::support::{Folder, gallery};
use carom::solvers::fclib::{FclibFile, FclibProblem, MatrixFormat, read, write};
use carom::solvers::problems::{Conditions, RigidScene, table, wall};
use std::path::{Path, PathBuf};

fn write_local(path: PathBuf, scene: &RigidScene) {
    write(path, &FclibFile::new(scene.friction_contact().into()), MatrixFormat::Csr).unwrap();
}

#[test]
fn solve_reports_and_writes_the_solution() {
    let folder = Folder::new();
    write_local(folder.path("wall.hdf5"), &wall(2, 3, &Conditions::default()));
    let solve = folder.carom(&["solve", "wall.hdf5", "--json", "--tolerance", "1e-9", "--write", "solved.hdf5"]);
    assert_eq!(solve.code, 0, "{}{}", solve.out, solve.err);
    let json = solve.json();
    assert_eq!((json["status"].as_str(), json["contacts"].as_u64(), json["rows"].as_u64()), (Some("converged"), Some(32), Some(96)));
    assert!(json["residual_normalised"].as_f64().unwrap() <= 1e-9 && json["cpu_time"].as_f64().unwrap() > 0.0);
    for key in ["residual", "iterations", "solver", "form"] {
        assert!(!json[key].is_null(), "{key}: {json}");
    }
    // the written solution has the residual that was told
    let file = read(folder.path("solved.hdf5")).unwrap();
    let (FclibProblem::Local(problem), Some(solution)) = (&file.problem, &file.solution) else {
        panic!("no local problem with a solution")
    };
    let residual = problem.residual_normalised(&solution.r, &solution.u);
    // W went through the file unchanged, the sums of its mean may be ordered otherwise
    assert!((residual - json["residual_normalised"].as_f64().unwrap()).abs() < 1e-14);
    assert_eq!(folder.carom(&["solve", "wall.hdf5", "--write", "solved.hdf5"]).code, 2, "an existing file is kept");
    assert_eq!(folder.carom(&["solve", "wall.hdf5", "--write", "solved.hdf5", "--overwrite"]).code, 0);
    let text = folder.carom(&["solve", "wall.hdf5"]);
    assert!(text.out.contains("32 contacts") && text.out.contains("converged by"), "{}", text.out);
}

#[test]
fn every_solver_of_the_global_form_solves_a_file() {
    let folder = Folder::new();
    let scene = wall(2, 3, &Conditions::default());
    write(folder.path("wall.hdf5"), &FclibFile::new(scene.global().into()), MatrixFormat::Triplet).unwrap();
    for solver in ["reduction", "nsgs", "admm", "interior-point"] {
        let solve = folder.carom(&["solve", "wall.hdf5", "--json", "--solver", solver, "--tolerance", "1e-8"]);
        assert_eq!(solve.code, 0, "{solver}: {}{}", solve.out, solve.err);
        assert!(solve.json()["residual_normalised"].as_f64().unwrap() <= 1e-8, "{solver}: {}", solve.out);
    }
}

#[test]
fn solve_tells_what_is_wrong() {
    let folder = Folder::new();
    let scene = table(16, &Conditions::default());
    write_local(folder.path("table.hdf5"), &scene);
    write(folder.path("global.hdf5"), &FclibFile::new(scene.global().into()), MatrixFormat::Csc).unwrap();
    folder.write("text.hdf5", "nothing");
    let starved = folder.carom(&["solve", "table.hdf5", "--solver", "nsgs", "--max-iterations", "1", "--tolerance", "1e-13"]);
    assert_eq!(starved.code, 1, "{}", starved.out);
    assert!(starved.out.contains("max-iterations"), "{}", starved.out);
    let cases: [(&[&str], &str); 9] = [
        (&["table.hdf5", "--solver", "ngs"], "did you mean 'nsgs'"),
        (&["global.hdf5", "--solver", "reducton"], "did you mean 'reduction'"),
        (&["table.hdf5", "--tolerance", "0"], "tolerance"),
        (&["table.hdf5", "--set", "relaxation=3"], "relaxation"),
        (&["table.hdf5", "--set", "relaxtion=1"], "relaxation"),
        (&["table.hdf5", "--set", "relaxation"], "KEY=VALUE"),
        (&["table.hdf5", "--warm"], "no guess"),
        (&["nowhere.hdf5"], "nowhere.hdf5"),
        (&["text.hdf5"], "text.hdf5"),
    ];
    for (arguments, word) in cases {
        let said = folder.carom(&[&["solve"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(word) && !said.err.contains("panicked"), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn bench_writes_tables_and_profiles() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("problems")).unwrap();
    write_local(folder.path("problems/wall.hdf5"), &wall(2, 2, &Conditions::default()));
    write_local(folder.path("problems/table.hdf5"), &table(8, &Conditions::default()));
    folder.write("baseline.csv", "problem,solver,tol,status,time\ntable,X,1e-06,ok,1000\nwall,X,1e-6,timeout,9\nwall,X,1e-4,ok,1e-9\n");
    let arguments = [
        "bench",
        "solvers",
        "problems",
        "--solvers",
        "auto,nsgs,pgs",
        "--tolerances",
        "1e-6",
        "--out",
        "out",
        "--baseline",
        "baseline.csv",
    ];
    let bench = folder.carom(&arguments);
    assert_eq!(bench.code, 0, "{}", bench.err);
    let csv = std::fs::read_to_string(folder.path("out/runs.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "problem,n_contacts,n_rows,solver,tolerance,status,cpu_time,iterations,residual,residual_normalised");
    assert_eq!(lines.len(), 1 + 2 * 3);
    assert!(lines[1].starts_with("table,8,24,auto,1e-6,converged,"), "{}", lines[1]);
    assert!(lines[3].starts_with("table,8,24,pgs,1e-6,unsupported,"), "{}", lines[3]);
    for part in ["tolerance 1e-6, 2 problems", "baseline:X", "within a factor 2", "greatest inf"] {
        assert!(bench.out.contains(part), "{part}: {}", bench.out);
    }
    let svg = std::fs::read_to_string(folder.path("out/profile-1e-6.svg")).unwrap();
    assert!(svg.contains(">auto<") && svg.contains(">nsgs<") && !svg.contains(">pgs<"), "pgs solved nothing");
    assert!(std::fs::metadata(folder.path("out/profile-1e-6.png")).unwrap().len() > 1000);

    folder.write("columns.csv", "problem,solver\n");
    folder.write("numbers.csv", "problem,solver,tol,status,time\na,b,tight,ok,1\n");
    std::fs::create_dir(folder.path("empty")).unwrap();
    std::fs::create_dir(folder.path("broken")).unwrap();
    folder.write("broken/text.hdf5", "nothing");
    for (arguments, word) in [
        (["problems", "--solvers", "nsg"], "did you mean 'nsgs'"),
        (["problems", "--baseline", "columns.csv"], "no column `tol`"),
        (["problems", "--baseline", "numbers.csv"], "`tight` is no number"),
        (["empty", "--solvers", "nsgs"], "no *.hdf5 file"),
        (["broken", "--solvers", "nsgs"], "left out: cannot read"),
        (["nowhere", "--solvers", "nsgs"], "nowhere"),
    ] {
        let said = folder.carom(&[&["bench", "solvers"][..], &arguments].concat());
        assert!(said.code == 2 && said.err.contains(word), "{arguments:?}: {}", said.err);
    }
}

fn dumped(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn run_dumps_its_problems() {
    let folder = Folder::new();
    let model = gallery("friction_limit");
    let run = |more: &[&str]| folder.carom(&[&["run", &model, "--no-record", "--quiet", "--set", "simulation.end=0.02"], more].concat());
    let all = run(&["--dump-problems", "all"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let names = dumped(&folder.path("all"));
    assert!(names.len() > 3 && all.err.contains(&format!("written: {} problems in all", names.len())), "{names:?} {}", all.err);
    assert!(names.iter().all(|name| name.starts_with("friction_limit-i") && name.ends_with(".hdf5")), "{names:?}");
    // the solution in the file solves the problem in the file
    let file = read(folder.path("all").join(&names[0])).unwrap();
    let (FclibProblem::Local(problem), Some(solution)) = (&file.problem, &file.solution) else {
        panic!("no local problem with a solution")
    };
    // the default tolerance of runs
    assert!(problem.residual_normalised(&solution.r, &solution.u) <= 1e-10);
    let solve = folder.carom(&["solve", &format!("all/{}", names[0])]);
    assert_eq!(solve.code, 0, "{}{}", solve.out, solve.err);

    assert_eq!(run(&["--dump-problems", "all"]).code, 2, "a folder with files is kept");
    assert_eq!(run(&["--dump-problems", "all", "--overwrite"]).code, 0);
    assert_eq!(dumped(&folder.path("all")), names, "the same run writes the same files");
    let few = run(&["--dump-problems", "few", "--dump-every", "2", "--dump-limit", "2"]);
    assert_eq!(dumped(&folder.path("few")).len(), 2);
    assert!(few.err.contains("limit of 2"), "{}", few.err);
    // a constraint alone is no contact problem
    let pendulum =
        ["run", &gallery("pendulum_cartesian"), "--no-record", "--quiet", "--set", "simulation.end=0.01", "--dump-problems", "none"];
    let none = folder.carom(&pendulum);
    assert!(none.code == 0 && none.err.contains("written: 0 problems") && none.err.contains("without contacts"), "{}", none.err);
}

#[test]
fn solvers_are_listed_by_problem() {
    let folder = Folder::new();
    let text = folder.carom(&["list", "solvers"]).out;
    let (friction, lcp) = text.split_once("\nLCP\n").unwrap_or_else(|| panic!("{text}"));
    assert!(
        friction.starts_with("friction contact\n  auto ")
            && friction.contains("\n  nsgs ")
            && friction.contains("global form\n  reduction ")
    );
    assert!(lcp.contains("\n  lemke ") && !lcp.contains("\n  nsgs "), "{lcp}");
    let items = folder.carom(&["list", "solvers", "--json"]).json();
    let items = items["items"].as_array().unwrap();
    assert!(items.iter().all(|item| ["name", "summary", "problem"].iter().all(|key| item[key].is_string())));
    assert!(items.iter().any(|item| item["name"] == "lemke" && item["problem"] == "LCP"));
}
