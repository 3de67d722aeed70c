//! Do the commands in `docs/import.md` work as they stand there?

use std::{fs, path::Path};

use crate::{
    place::Place,
    server::{issue_token, output_of, without_environment},
};

#[test]
fn the_commands_of_the_page_work_as_pasted() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let page = fs::read_to_string(page).unwrap();
    let place = Place::server(&[]);
    let blocks: Vec<_> =
        page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 5, "{blocks:?}");
    let script = blocks.concat().replace("http://127.0.0.1:7700", &place.address());
    let folder = Path::new(env!("CARGO_BIN_EXE_shopkeeper")).parent().unwrap().to_str().unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let said = output_of(
        without_environment("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(place.scratch.path())
            .env("PATH", path)
            .env("TOKEN", issue_token(&place.data(), "EDITOR")),
    );
    let summaries: Vec<_> = said.lines().filter(|line| line.contains(" records in ")).collect();
    let ends: Vec<_> =
        summaries.iter().filter_map(|line| line.split_once(": ")).map(|(_, end)| end).collect();
    assert_eq!(
        ends,
        [
            "2 would be created, 0 would be updated, 0 refused",
            "2 created, 0 updated, 0 refused",
            "2 created, 0 updated, 0 refused",
            "1 created, 0 updated, 1 refused",
            "2 created, 0 updated, 0 refused",
            "0 created, 2 updated, 0 refused",
            "5 created, 0 updated, 0 refused",
        ]
    );
    assert_eq!(place.all("title"), ["Wool blanket", "Picnic blanket"]);
}
