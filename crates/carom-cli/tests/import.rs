//! `carom import`, and models of several files, as a user runs them.

use crate::support::Folder;

const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial>
  </link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="0 0 -1"/><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/></joint>
  <transmission name="drive"/>
</robot>
"#;

#[test]
fn a_robot_is_converted_checked_and_run() {
    let folder = Folder::new();
    folder.write("arm.urdf", ARM);
    let said = folder.carom(&["import", "arm.urdf", "-o", "arm.toml", "--set", "shoulder=0.5"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert!(said.err.contains("note: 1 element(s) <transmission>"), "{}", said.err);
    let said = folder.carom(&["check", "arm.toml"]);
    assert!(said.code == 0 && said.out.contains("14 coordinates, 12 velocities, 2 constraints"), "{} {}", said.out, said.err);
    let said = folder.carom(&["run", "arm.toml", "--set", "simulation.end=0.02", "--no-record", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = folder.carom(&["import", "arm.urdf", "-o", "arm.toml"]);
    assert!(said.code == 2 && said.err.contains("--overwrite"), "{}", said.err);
    let said = folder.carom(&["import", "arm.urdf"]);
    assert!(said.code == 0 && said.out.contains("name = \"upper\""), "{}", said.err);
}

#[test]
fn bad_robots_are_refused() {
    let folder = Folder::new();
    folder.write("bad.urdf", &ARM.replace("type=\"continuous\"><parent", "type=\"hinge\"><parent"));
    folder.write("arm.urdf", ARM);
    let cases: [(&[&str], &str); 5] = [
        (&["import", "bad.urdf"], "bad.urdf: line 10: the joint \"shoulder\" has the type \"hinge\""),
        (&["import", "none.urdf"], "cannot read none.urdf"),
        (&["import", "arm.urdf", "--set", "elbow"], "JOINT=VALUE"),
        (&["import", "arm.urdf", "--set", "elbw=1"], "no joint \"elbw\""),
        (&["import", "arm.urdf", "--density", "-1"], "positive number"),
    ];
    for (arguments, words) in cases {
        let said = folder.carom(arguments);
        assert!(said.code == 2 && said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn mistakes_in_included_files_show_their_own_lines() {
    let folder = Folder::new();
    folder.write("model.toml", "include = [\"walls.toml\"]\n[[body]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = 1 }\nmass = 1\n[simulation]\nend = 1\nstep = 1e-3\n");
    folder.write("walls.toml", "# walls\n[[body]]\nname = \"wall\"\nfixed = true\nshape = { kind = \"bx\", size = 1 }\n");
    let said = folder.carom(&["check", "model.toml"]);
    assert!(said.code == 2 && said.err.contains("walls.toml:5:18") && said.err.contains("shape = { kind = \"bx\""), "{}", said.err);
    let json = folder.carom(&["check", "model.toml", "--json"]).json();
    assert!(json["mistakes"][0]["file"].as_str().unwrap().ends_with("walls.toml"), "{json}");
    assert_eq!(json["mistakes"][0]["line"], 5);
}
