//! `[impact]` and the springs of contacts.

use carom_dynamics::impacts::{EnergeticParams, ImpactLaw, SequenceOrder, SequentialParams};
use carom_io::model_file::{ModelFile, ModelFileError, parse};
use std::path::Path;

const BALL: &str = r#"
    [lagrangian]
    coordinates = ["y"]
    kinetic = "y_dot^2/2"
    potential = "9.81*y"

    [initial]
    position.y = 1

    [simulation]
    end = 1
    step = 0.01
"#;

fn read(text: &str) -> Result<ModelFile, ModelFileError> {
    parse(text, Path::new("impacts.toml"))
}

fn ball(contact: &str, impact: &str) -> Result<ModelFile, String> {
    let text = format!("{BALL}\n[[contact]]\nname = \"floor\"\ngap = \"y\"\n{contact}\n\n{impact}\n");
    read(&text).map_err(|error| error.to_string())
}

fn law(impact: &str) -> Result<ImpactLaw, String> {
    ball("restitution = 0.5", impact).map(|file| file.model.impact_law().clone())
}

#[test]
fn reads_impact_laws() {
    assert_eq!(law("").unwrap(), ImpactLaw::Newton);
    assert_eq!(law("[impact]\nlaw = \"newton\"").unwrap(), ImpactLaw::Newton);
    assert_eq!(law("[impact]\nlaw = \"inelastic\"").unwrap(), ImpactLaw::Inelastic);
    assert_eq!(law("[impact]\nlaw = \"poisson\"").unwrap(), ImpactLaw::Poisson);
    let sequential = SequentialParams { order: SequenceOrder::Index, max_impacts: 7, ..SequentialParams::default() };
    assert_eq!(law("[impact]\nlaw = \"sequential\"\norder = \"index\"\nmax_impacts = 7").unwrap(), ImpactLaw::Sequential(sequential));
    let energetic = EnergeticParams { tolerance: 1e-6, ..EnergeticParams::default() };
    assert_eq!(law("[impact]\nlaw = \"energetic\"\ntolerance = 1e-6").unwrap(), ImpactLaw::Energetic(energetic));
    let choice = "[impact]\nlaw = \"choice\"\nseed = 3\noutcomes = [\n  { law = \"newton\", probability = 0.5 },\n  \
                  { law = \"sequential\", probability = 0.5, order = \"index\" },\n]";
    let ImpactLaw::Choice(params) = law(choice).unwrap() else { panic!() };
    assert_eq!((params.seed, params.outcomes.len(), params.outcomes[1].law.name()), (3, 2, "sequential"));
}

#[test]
fn reads_springs_of_contacts() {
    let file = ball("stiffness = 2\nexponent = 1.5", "").unwrap();
    let contact = file.model.interactions()[0].law().contact().copied().unwrap();
    assert_eq!((contact.stiffness, contact.exponent), (2.0, 1.5));
    let bodies = r#"
        [[body]]
        name = "ball"
        shape = { kind = "sphere", radius = 0.1 }
        density = 1000
        position = [0, 0, 1]
        material = "steel"

        [[body]]
        name = "floor"
        fixed = true
        shape = { kind = "plane", normal = [0, 0, 1] }
        material = "rubber"

        [[material]]
        name = "steel"
        stiffness = 3
        exponent = 1.5

        [[material]]
        name = "rubber"

        [simulation]
        end = 1
        step = 0.01
    "#;
    let springs = |text: &str| {
        let file = read(text).map_err(|e| e.to_string()).unwrap();
        file.model.detector().unwrap().laws().iter().map(|law| (law.stiffness, law.exponent)).collect::<Vec<_>>()
    };
    // two springs in series
    assert!(springs(bodies).contains(&(1.5, 1.5)), "{:?}", springs(bodies));
    let pair = format!("{bodies}\n[[material_pair]]\nmaterials = [\"steel\", \"rubber\"]\nstiffness = 7\nexponent = 2\n");
    assert!(springs(&pair).contains(&(7.0, 2.0)), "{:?}", springs(&pair));
}

#[test]
fn mistakes_in_impact_laws() {
    let choice = |outcomes: &str| format!("[impact]\nlaw = \"choice\"\noutcomes = [{outcomes}]");
    for (impact, expected) in [
        ("[impact]\nlaw = \"energetik\"".to_owned(), vec!["there is no impact law \"energetik\"", "energetic"]),
        ("[impact]\nlaw = \"hertz\"".to_owned(), vec!["there is no impact law \"hertz\"", "poisson"]),
        ("[impact]\nseed = 1".to_owned(), vec!["there is no `law`", "newton"]),
        ("[impact]\nlaw = \"newton\"\ntolerance = 1".to_owned(), vec!["unknown field `tolerance`"]),
        ("[impact]\nlaw = \"sequential\"\nordr = \"index\"".to_owned(), vec!["unknown field `ordr`", "did you mean `order`"]),
        ("[impact]\nlaw = \"energetic\"\ntolerance = 2".to_owned(), vec!["tolerance = 2", "(0, 1)"]),
        (choice("{ law = \"newton\", probability = 0.5 }"), vec!["sum of the probabilities = 0.5", "add up to 1"]),
        (choice("{ law = \"newton\" }"), vec!["outcome 1", "probability"]),
        (choice("{ law = \"choice\", probability = 1, outcomes = [{ law = \"newton\", probability = 1 }] }"), vec!["within a choice"]),
        (choice(""), vec!["at least one outcome"]),
        ("[impact]\nlaw = \"choice\"".to_owned(), vec!["needs `outcomes`"]),
        ("[impact]\nlaw = \"choice\"\nseed = -1\noutcomes = []".to_owned(), vec!["seed = -1"]),
    ] {
        let message = law(&impact).unwrap_err();
        for part in expected {
            assert!(message.contains(part), "{impact}\n{message}");
        }
    }
    let message = ball("exponent = 0.5", "").err().unwrap();
    assert!(message.contains("exponent of \"floor\"") && message.contains("Hertz"), "{message}");
    let message = ball("stiffness = 0", "").err().unwrap();
    assert!(message.contains("stiffness of \"floor\""), "{message}");
    // a scheme that knows no separate impact laws names those that do
    let text = format!("{BALL}\nscheme = \"theta-gap\"\n[[contact]]\ngap = \"y\"\n[impact]\nlaw = \"poisson\"\n");
    let message = read(&text).err().unwrap().to_string();
    assert!(message.contains("impact laws") && message.contains("moreau-jean"), "{message}");
}
