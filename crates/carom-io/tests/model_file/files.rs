//! Models of several files: includes, shapes from files, and paths that must not lead outside.

use carom_io::model_file::{ModelFile, ModelFileError, Override, read};
use std::fs;
use tempfile::TempDir;

const MAIN: &str = "include = [\"parts/walls.toml\"]\ntitle = \"two\"\n[parameters]\nr = 0.5\n[[body]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = \"r\" }\nmass = 1\nposition = [0, 0, 5]\n[simulation]\nend = 1\n";
const WALLS: &str = "include = \"deep/floor.toml\"\n[simulation]\nstep = 1e-3\n[[body]]\nname = \"wall\"\nfixed = true\nshape = { kind = \"box\", size = \"2*r\" }\n";
const FLOOR: &str = "[[body]]\nname = \"floor\"\nfixed = true\nshape = { kind = \"plane\" }\n";

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn model(folder: &TempDir, overrides: &[&str]) -> Result<ModelFile, ModelFileError> {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    read(folder.path(), &overrides)
}

fn message(files: &[(&str, &str)]) -> String {
    model(&folder(files), &[]).err().expect("it should be refused").to_string()
}

#[test]
fn included_files_are_merged() {
    let folder = folder(&[("model.toml", MAIN), ("parts/walls.toml", WALLS), ("parts/deep/floor.toml", FLOOR)]);
    let file = model(&folder, &[]).unwrap();
    assert_eq!((file.model.n_colliders(), file.run.step, file.title.as_str()), (3, Some(1e-3), "two"));
    assert!(file.text.starts_with(MAIN) && file.text.contains(FLOOR));
    // values are set where they are given
    let file = model(&folder, &["simulation.step=2e-3", "simulation.end=3", "body.wall.position=[0, 0, -1]", "parameters.r=1"]).unwrap();
    assert_eq!((file.run.step, file.run.end), (Some(2e-3), 3.0));
    assert!(file.text.contains("position = [0, 0, -1]"));
    let error = model(&folder, &["body.wal.position=[0, 0, -1]"]).err().unwrap().to_string();
    assert!(error.contains("there is no body \"wal\""), "{error}");
}

#[test]
fn mistakes_are_shown_in_the_file_they_stand_in() {
    let broken = WALLS.replace("\"2*r\"", "\"2*s\"");
    let folder = folder(&[("model.toml", MAIN), ("parts/walls.toml", &broken), ("parts/deep/floor.toml", FLOOR)]);
    let error = model(&folder, &[]).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("parts/walls.toml:7:35: ") && text.contains("no `s` here"), "{text}");
    assert_eq!(error.part(&error.diagnostics[0]).file, folder.path().join("parts/walls.toml"));
    // TOML itself, a wrong key, and a name that two files give
    let cases = [
        ("[[body]\n", "parts/walls.toml:1:"),
        ("[[body]]\nnam = \"x\"\n", "parts/walls.toml:2:1: unknown field `nam`"),
        (&FLOOR.replace("floor", "ball"), "parts/walls.toml:2:8: the name \"ball\" of a body is given twice"),
        ("[simulation]\nend = 2\n", "`simulation.end` is given twice: in "),
        ("title = \"other\"\n", "`title` is given twice"),
    ];
    for (text, words) in cases {
        let message = message(&[("model.toml", MAIN), ("parts/walls.toml", text)]);
        assert!(message.contains(words), "{message}");
    }
    let both = message(&[("model.toml", MAIN), ("parts/walls.toml", "\n[simulation]\nend = 2\n")]);
    assert!(both.contains("model.toml, line 11 and in ") && both.contains("parts/walls.toml, line 3"), "{both}");
}

#[test]
fn circles_and_paths_outside_are_refused() {
    let with = |include: &str| message(&[("model.toml", &MAIN.replace("parts/walls.toml", include)), ("parts/walls.toml", WALLS)]);
    let cases = [
        ("parts/wall.toml", "cannot read \"parts/wall.toml\""),
        ("../other.toml", "may lead outside the model's folder"),
        ("parts/../../x.toml", "may lead outside the model's folder"),
        ("/etc/passwd", "not a path relative"),
        ("C:\\\\model.toml", "not a path relative"),
        ("parts", "\"parts\" is not a file"),
        ("", "is empty"),
        ("model.toml", "\"model.toml\" includes itself"),
    ];
    for (include, words) in cases {
        let message = with(include);
        assert!(message.contains(words), "{include}: {message}");
    }
    let circle =
        message(&[("model.toml", MAIN), ("parts/walls.toml", "include = \"a.toml\""), ("parts/a.toml", "include = \"walls.toml\"")]);
    assert!(circle.contains("\"walls.toml\" includes itself") && circle.contains("parts/a.toml:1:11"), "{circle}");
    let twice = message(&[("model.toml", &MAIN.replace("\"parts/walls.toml\"", "\"a.toml\", \"./a.toml\"")), ("a.toml", FLOOR)]);
    assert!(twice.contains("\"./a.toml\" is included twice"), "{twice}");
    assert!(message(&[("model.toml", "include = 3\n")]).contains("names files in quotes"));
    let deep: Vec<(String, String)> = (0..20).map(|k| (format!("{k}.toml"), format!("include = \"{}.toml\"", k + 1))).collect();
    let mut files = vec![("model.toml", "include = \"0.toml\"")];
    files.extend(deep.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    assert!(message(&files).contains("more than 16 files"), "{}", message(&files));
}

#[cfg(unix)]
#[test]
fn links_must_stay_in_the_folder() {
    let outside = folder(&[("secret.toml", FLOOR), ("part.obj", TETRAHEDRON)]);
    let inside = folder(&[("model.toml", &MAIN.replace("parts/walls", "link")), ("real.toml", &format!("{FLOOR}[simulation]\nstep = 1"))]);
    std::os::unix::fs::symlink(outside.path().join("secret.toml"), inside.path().join("link.toml")).unwrap();
    let error = model(&inside, &[]).err().unwrap().to_string();
    assert!(error.contains("\"link.toml\" is a link that leads outside"), "{error}");
    fs::remove_file(inside.path().join("link.toml")).unwrap();
    std::os::unix::fs::symlink(inside.path().join("real.toml"), inside.path().join("link.toml")).unwrap();
    assert!(model(&inside, &[]).is_ok());
    std::os::unix::fs::symlink(outside.path(), inside.path().join("door")).unwrap();
    let text = shape("convex", "file = \"door/part.obj\"").replace("end = 1\n", "");
    fs::write(inside.path().join("real.toml"), text).unwrap();
    let error = model(&inside, &[]).err().unwrap().to_string();
    assert!(error.contains("\"door/part.obj\" is a link that leads outside"), "{error}");
}

fn shape(kind: &str, keys: &str) -> String {
    format!("[[body]]\nname = \"part\"\nshape = {{ kind = \"{kind}\", {keys} }}\ndensity = 6000\n[simulation]\nend = 1\nstep = 1e-3\n")
}

/// A tetrahedron of unit edges along the axes, in millimetres: volume 1/6 mm³, centre of mass at a quarter.
#[test]
fn shapes_are_read_from_files() {
    for (kind, name) in [("convex", "part.obj"), ("mesh", "part.obj"), ("mesh", "PART.STL")] {
        let stl: String = TETRAHEDRON.lines().filter(|line| line.starts_with('f')).fold("solid\n".to_owned(), |text, line| {
            let corner = |k: &str| ["0 0 0", "1 0 0", "0 1 0", "0 0 1"][k.parse::<usize>().unwrap() - 1].to_owned();
            let corners: Vec<String> = line[2..].split(' ').map(|k| format!("vertex {}\n", corner(k))).collect();
            format!("{text}facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners.concat())
        }) + "endsolid\n";
        let text = shape(kind, &format!("file = \"meshes/{name}\", scale = 1e-3"));
        let folder = folder(&[("model.toml", &text), ("meshes/part.obj", TETRAHEDRON), ("meshes/PART.STL", &stl)]);
        let file = model(&folder, &[]).unwrap();
        assert!((file.state.q[0] - 0.25e-3).abs() < 1e-18 && (file.state.q[2] - 0.25e-3).abs() < 1e-18, "{:?}", file.state.q);
        let (kinetic, _) = file.model.energy(0.0, &file.state.q, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], &mut Default::default()).unwrap();
        assert!((kinetic - 0.5 * 1e-6).abs() < 1e-18, "{kinetic}");
    }
    let heights =
        "[[body]]\nname = \"ground\"\nfixed = true\nshape = { kind = \"height-field\", file = \"z.csv\", spacing = 0.5, scale = 2 }\n";
    let ball = shape("sphere", "radius = 1");
    let folder = folder(&[("model.toml", &format!("{heights}{ball}")), ("z.csv", "0, 1\n2, 3\n4, 5\n")]);
    assert_eq!(model(&folder, &[]).unwrap().model.n_colliders(), 2);
}

#[test]
fn bad_shape_files_are_named() {
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n";
    let open = TETRAHEDRON.replace("f 2 3 4\n", "");
    let cases: [(&str, &str, &str, &str); 13] = [
        ("convex", "file = \"no.obj\"", "", "cannot read \"no.obj\""),
        ("convex", "file = \"../a.obj\"", "", "outside the model's folder"),
        ("mesh", "file = \"a.obj\"", "v 0 0 0\n", "\"a.obj\": the file has no triangles"),
        ("mesh", "file = \"a.obj\"", "f 1 2 3\n", "line 1: there is no vertex 1"),
        ("mesh", "file = \"a.obj\"", &open, "the mesh is not closed"),
        ("mesh", "file = \"a.obj\"", flat, "encloses no volume"),
        ("convex", "file = \"a.obj\"", flat, "at least 4 points, not 3"),
        ("mesh", "file = \"a.ply\"", "", "must end in .stl or .obj"),
        ("mesh", "file = \"a.obj\", scale = 0", TETRAHEDRON, "the scale is 0"),
        ("mesh", "file = \"a.obj\", vertices = [[0, 0, 0]]", TETRAHEDRON, "both `file` and `vertices`"),
        ("mesh", "vertices = [[0, 0, 0]], triangles = [[0, 1, 2]]", "", "triangle 1 has the corner 1"),
        ("mesh", "vertices = [[0, 0, 0]]", "", "the mesh has no triangles"),
        ("sphere", "radius = 1, file = \"a.obj\"", "", "a sphere has no `file`"),
    ];
    for (kind, keys, text, words) in cases {
        let message = message(&[("model.toml", &shape(kind, keys)), ("a.obj", text), ("a.ply", text)]);
        assert!(message.contains(words) && message.contains("model.toml:"), "{keys}: {message}");
    }
    let field = |keys: &str, text: &str| {
        let body = format!(
            "[[body]]\nname = \"ground\"\nfixed = true\nshape = {{ kind = \"height-field\", {keys} }}\n{}",
            shape("sphere", "radius = 1")
        );
        message(&[("model.toml", &body), ("z.csv", text)])
    };
    assert!(field("file = \"z.csv\", spacing = 1", "1 2\n3").contains("line 2: a row of 1 numbers"));
    assert!(field("file = \"z.csv\"", "1 2\n3 4").contains("no spacing"));
    assert!(field("file = \"z.csv\", spacing = 1", "1 2 3").contains("no grid"), "{}", field("file = \"z.csv\", spacing = 1", "1 2 3"));
    assert!(field("heights = [[1, 2], [3]], spacing = 1", "").contains("rows of equal length"));
    assert!(field("spacing = 1", "").contains("either `heights` or `file`"));
    let moving = shape("height-field", "heights = [[1, 2], [3, 4]], spacing = 1");
    assert!(message(&[("model.toml", &moving)]).contains("only fixed bodies can"));
}
