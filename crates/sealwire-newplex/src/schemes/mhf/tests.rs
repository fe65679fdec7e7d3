//! The published vectors.

use super::*;
use crate::duplex::every_back_end::on_every_back_end;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::vec;

fn cost(case: &Value) -> Cost {
    Cost::new(number(&case["cost"]) as u8).expect("a cost")
}

#[test]
fn passwords_have_the_published_hashes() {
    on_every_back_end(|_| {
        for case in list(&VECTORS["mhf"], "vectors") {
            let mut output = vec![0; number(&case["n"])];
            let (salt, password) = (bytes(&case["salt"]), bytes(&case["password"]));
            let domain = text(&case["domain"]);
            assert_eq!(
                hash(domain, cost(case), &salt, &password, &mut output),
                Ok(())
            );
            assert_eq!(hex(&output), text(&case["output"]), "{}", case["name"]);
        }
    });
}

#[test]
fn grids_have_the_published_columns() {
    for case in list(&VECTORS["mhf"], "columns") {
        assert_eq!(
            columns(cost(case)),
            number(&case["cols"]),
            "cost {}",
            case["cost"]
        );
    }
}

#[test]
fn nodes_have_the_published_parents() {
    for case in list(&VECTORS["mhf"], "static_parents") {
        let salt = bytes(&case["salt"]);
        let (graph, _) = begin(text(&case["domain"]).as_bytes(), cost(case), &salt);
        for (index, expected) in list(case, "parents").iter().enumerate().skip(1) {
            let expected = [&expected[0], &expected[1]];
            let expected = expected.map(|parent| parent.as_u64().map(|parent| parent as usize));
            assert_eq!(graph.parents(index), expected, "block {index}");
        }
    }
}

#[test]
fn a_cost_that_is_too_high_is_refused() {
    assert_eq!(Cost::new(25), Err(MhfError::Cost(25)));
    assert_eq!(Cost::new(24), Ok(Cost::MAX));
}
