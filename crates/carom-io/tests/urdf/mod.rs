//! Robots: a three-link arm of our own, its poses by hand, and what is wrong with a URDF.

use carom_io::model_file::{ModelFile, parse};
use carom_io::urdf::{ImportOptions, Imported, import};
use nalgebra::Vector3;
use std::f64::consts::FRAC_PI_2;
use std::path::Path;

/// A base, a shoulder about z, an elbow about y 1 m out along x, a slide along x 0.5 m further, and a tool held by a fixed joint.
const ARM: &str = r#"<?xml version="1.0"?>
<!-- three links -->
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="9"/></geometry></visual>
    <collision><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0.25 0 0" rpy="0 0 1.5707963267948966"/><mass value="1"/><inertia ixx="0.3" iyy="0.1" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.1 0.1"/></geometry></collision>
    <collision><origin xyz="0.5 0 0"/><geometry><sphere radius="0.08"/></geometry></collision>
  </link>
  <link name="rod"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
  <link name="tool"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial></link>
  <joint name="shoulder" type="continuous"><origin xyz="0 0 0.1"/><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="1 0 0"/><parent link="upper"/><child link="lower"/><axis xyz="0 2 0"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0.5 0 0"/><parent link="lower"/><child link="rod"/><limit lower="-0.1" upper="0.3" effort="0" velocity="0"/></joint>
  <joint name="flange" type="fixed"><origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/><parent link="rod"/><child link="tool"/></joint>
</robot>
"#;

fn convert(text: &str, set: &[(&str, f64)]) -> Imported {
    let positions = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    import(text, &ImportOptions { positions, ..ImportOptions::default() }).unwrap()
}

fn read(imported: &Imported) -> ModelFile {
    parse(&imported.model, Path::new("arm.toml")).unwrap_or_else(|error| panic!("{error}\n{}", imported.model))
}

fn origin(file: &ModelFile, body: &str) -> Vector3<f64> {
    file.model.systems().frame(&file.state.q, file.model.systems().find_frame(body).unwrap()).origin
}

#[test]
fn poses_are_those_of_the_joint_values() {
    let imported = convert(ARM, &[]);
    assert_eq!(imported.notes, Vec::<String>::new());
    let file = read(&imported);
    assert_eq!((file.title.as_str(), file.model.n_colliders()), ("arm", 4));
    // centres of mass of the straight arm
    assert!((origin(&file, "upper") - Vector3::new(0.5, 0.0, 0.1)).norm() < 1e-15);
    assert!((origin(&file, "lower") - Vector3::new(1.25, 0.0, 0.1)).norm() < 1e-15);
    // rod at (1.5, 0), tool of the same mass with its centre 0.2 + 0.1 m further, since its z is the rod's x
    assert!((origin(&file, "rod") - Vector3::new(1.65, 0.0, 0.1)).norm() < 1e-15, "{}", origin(&file, "rod"));
    // shoulder a quarter to the left, elbow a quarter down, slide out by 0.3
    let imported = convert(ARM, &[("shoulder", FRAC_PI_2), ("elbow", FRAC_PI_2), ("slide", 0.3)]);
    let file = read(&imported);
    assert!((origin(&file, "upper") - Vector3::new(0.0, 0.5, 0.1)).norm() < 1e-15);
    assert!((origin(&file, "lower") - Vector3::new(0.0, 1.0, 0.1 - 0.25)).norm() < 1e-15);
    assert!((origin(&file, "rod") - Vector3::new(0.0, 1.0, 0.1 - 0.5 - 0.3 - 0.15)).norm() < 1e-15);
    assert!(imported.model.contains("slide = 0.3\nlimits = [-0.1, 0.3]"), "{}", imported.model);
    // the slide has two limits besides
    assert_eq!(file.model.interactions().len(), 5);
    let joints = || file.model.interactions().iter().filter(|i| i.is_bilateral());
    let rows: Vec<(&str, usize)> = joints().map(|i| (i.name(), i.relation().n_rows())).collect();
    assert_eq!(rows, [("shoulder", 5), ("elbow", 5), ("slide", 5)]);
    let mut g = [1.0; 5];
    for joint in joints() {
        joint.relation().position(0.0, &file.state.q, &mut g, &mut Default::default()).unwrap();
        assert!(g.iter().all(|g| g.abs() < 1e-14), "{g:?}");
    }
}

/// An inertial frame that is turned by a quarter about z swaps the moments about x and y; a tool adds parallel axes.
#[test]
fn inertias_are_turned_and_put_together() {
    let file = read(&convert(ARM, &[]));
    let systems = file.model.systems();
    let names: Vec<String> = systems.velocities().names().collect();
    let moment = |body: &str, axis: usize| {
        let mut v = vec![0.0; names.len()];
        let first = names.iter().position(|name| name.starts_with(&format!("{body}."))).unwrap();
        v[first + 3 + axis] = 1.0;
        2.0 * file.model.energy(0.0, &file.state.q, &v, &mut Default::default()).unwrap().0
    };
    let lower = [0, 1, 2].map(|axis| moment("lower", axis));
    assert!((lower[0] - 0.1).abs() < 1e-15 && (lower[1] - 0.3).abs() < 1e-15 && (lower[2] - 0.25).abs() < 1e-15, "{lower:?}");
    let arms = 2.0 * 0.5 * 0.15_f64.powi(2);
    let rod = [0, 1, 2].map(|axis| moment("rod", axis));
    assert!((rod[0] - 0.03).abs() < 1e-15 && (rod[1] - 0.03 - arms).abs() < 1e-15, "{rod:?}");
}

#[test]
fn what_is_left_out_is_told() {
    let text = ARM
        .replace("effort=\"0\" velocity=\"0\"", "effort=\"10\" velocity=\"2\"")
        .replace(
            "<child link=\"lower\"/>",
            "<child link=\"lower\"/><dynamics damping=\"0.5\" friction=\"0.25\"/><mimic joint=\"shoulder\"/><safety_controller/>",
        )
        .replace("<sphere radius=\"0.08\"/>", "<mesh filename=\"package://arm/meshes/hand.dae\"/>")
        .replace("<box size=\"0.5 0.1 0.1\"/>", "<mesh filename=\"package://arm/meshes/hand.stl\" scale=\"0.001 0.001 0.001\"/>")
        .replace("</robot>", "<gazebo/><gazebo/></robot>");
    let Imported { model, notes } = convert(&text, &[]);
    let words = [
        "2 element(s) <gazebo>",
        "hand.dae\" of the link \"lower\" is left out",
        "expected as \"meshes/hand.stl\"",
        "\"elbow\" mimics \"shoulder\"",
        "<safety_controller> of the joint \"elbow\"",
        "effort 10, velocity 2",
    ];
    for word in words {
        assert!(notes.iter().any(|note| note.contains(word)), "{word}: {notes:?}");
        assert!(model.lines().any(|line| line.starts_with('#') && line.contains(word)), "{word}");
    }
    assert_eq!(notes.len(), words.len(), "{notes:?}");
    assert!(model.contains("kind = \"mesh\", file = \"meshes/hand.stl\", scale = [0.001, 0.001, 0.001]"), "{model}");
    assert!(model.contains("friction_torque = 0.25") && model.contains("spring = { damping = 0.5 }"));
    let floating = ARM.replace("<robot name=\"arm\">", "<robot name=\"a\nb\"><link name=\"ground\"/><joint name=\"j\" type=\"floating\"><parent link=\"ground\"/><child link=\"base\"/></joint>");
    let Imported { model, notes } = convert(&floating, &[]);
    assert!(notes.iter().any(|note| note.contains("\"base\" has no <inertial>")), "{notes:?}");
    assert!(model.contains("# the joint \"j\" is floating") && model.contains("# the root link \"ground\" is the ground"), "{model}");
    let file = read(&Imported { model, notes });
    assert_eq!(file.model.systems().coordinates().len(), 4 * 7);
}

#[test]
fn mistakes_name_their_line() {
    let message = |from: &str, to: &str| {
        assert!(ARM.contains(from), "{from}");
        import(&ARM.replacen(from, to, 1), &ImportOptions::default()).unwrap_err().to_string()
    };
    let cases = [
        ("</robot>", "", "not XML that is read"),
        ("<robot name=\"arm\">", "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><robot name=\"&b;\">", "not XML that is read"),
        ("<robot name=\"arm\">", "<sdf/><robot name=\"arm\">", "not XML that is read"),
        ("type=\"prismatic\"", "type=\"sliding\"", "line 19: the joint \"slide\" has the type \"sliding\" (choose from: revolute"),
        ("<limit lower=\"-0.1\" upper=\"0.3\" effort=\"0\" velocity=\"0\"/>", "", "line 19: the prismatic joint \"slide\" has no <limit>"),
        ("lower=\"-0.1\"", "lower=\"1\"", "lower must not exceed upper"),
        ("<child link=\"lower\"/>", "<child link=\"lowr\"/>", "line 18: the joint \"elbow\" joins \"lowr\", which is no link"),
        ("<child link=\"lower\"/>", "<child link=\"upper\"/>", "child of both \"shoulder\" and \"elbow\""),
        ("<parent link=\"base\"/>", "<parent link=\"tool\"/>", "joined in a circle"),
        ("<mass value=\"2\"/>", "<mass value=\"nan\"/>", "line 6: value=\"nan\" is not a finite number"),
        ("<mass value=\"2\"/>", "<mass value=\"0\"/>", "\"upper\" moves, but has no mass"),
        ("<mass value=\"2\"/>", "", "line 6: <inertial> has no <mass>"),
        ("size=\"0.5 0.1 0.1\"", "size=\"0.5 0.1\"", "has 2 numbers (three are needed)"),
        ("size=\"0.5 0.1 0.1\"", "size=\"0.5 0.1 0\"", "positive lengths"),
        ("<box size=\"0.5 0.1 0.1\"/>", "<torus/>", "no geometry <torus>"),
        ("axis xyz=\"0 2 0\"", "axis xyz=\"0 0 0\"", "the axis of \"elbow\" is zero"),
        ("<link name=\"tool\">", "<link name=\"rod\">", "the link \"rod\" is given twice"),
        ("<link name=\"tool\">", "<link>", "a <link> has no name"),
    ];
    for (from, to, words) in cases {
        let message = message(from, to);
        assert!(message.contains(words), "{to}: {message}");
    }
    let set = |name: &str, value: f64| {
        import(ARM, &ImportOptions { positions: vec![(name.to_owned(), value)], ..ImportOptions::default() }).unwrap_err().to_string()
    };
    assert!(set("elbw", 0.0).contains("no joint \"elbw\" to set (choose from: shoulder, elbow"));
    assert!(set("slide", 1.0).contains("cannot be at 1 (give a finite value from -0.1 to 0.3)"));
    assert!(set("flange", 1.0).contains("has no single value"));
    assert!(import("<sdf/>", &ImportOptions::default()).unwrap_err().to_string().contains("not a <robot>"));
}
