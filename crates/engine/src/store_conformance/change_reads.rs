//! `ChangeReads`: the change feed.

use super::*;

on_every_store! {
    changes_since_returns_the_current_state,
    a_position_outside_the_history_is_detected,
}

fn changes_since_returns_the_current_state(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let (made, at): (Vec<_>, Vec<_>) = ["a", "b", "c"]
        .map(|title| (create(&mut *store, 1, title, false), position(&*readers, 1)))
        .into_iter()
        .unzip();
    let elsewhere = create(&mut *store, 2, "d", false);
    let model = ModelId::new("m");
    let since = |position| {
        let found = readers.changes_since(shop(1), Some(&model), position).unwrap();
        let FeedResult::Changes(changes, upto) = found else { panic!("{found:?}") };
        let shown = changes.into_iter().map(|change| match change {
            AppliedChange::Upserted { product, vectors } => match vectors {
                VectorChange::Set(vectors) => (product.id, Some((product, Some(vectors)))),
                _ => (product.id, Some((product, None))),
            },
            AppliedChange::Deleted { id, .. } => (id, None),
            other => panic!("{other:?}"),
        });
        (shown.collect::<Vec<_>>(), upto)
    };
    let last = position(&*readers, 1);
    assert_eq!(last.seq, readers.last_change(shop(1)).unwrap());
    let all: Vec<_> =
        made.iter().map(|product| (product.id, Some((product.clone(), None)))).collect();
    assert_eq!(since(Position::default()), (all.clone(), last));
    assert_eq!(since(at[1]), (all[2..].to_vec(), last));
    assert_eq!(since(last), (vec![], last));
    // A product that changed several times is returned once, in the order of the last changes.
    let hide = Patch { hidden: Some(true), ..Patch::default() };
    let hidden = write(&mut *store, |transaction| {
        let hidden = transaction.update(made[0].clone(), hide.clone(), NOW)?;
        transaction.delete(&made[1])?;
        transaction.update(hidden, hide.clone(), NOW)
    })
    .0;
    let row = vector_of(&made[2], "m", 1);
    assert!(put(&mut *store, &row));
    let last = position(&*readers, 1);
    let with_vector = Some((made[2].clone(), Some(row.vectors)));
    let expected =
        vec![(made[1].id, None), (hidden.id, Some((hidden, None))), (made[2].id, with_vector)];
    assert_eq!(since(at[2]), (expected, last));
    assert!(position(&*readers, 2).seq >= elsewhere.version);
    // Removed change records are detected.
    clean(&mut *subject.cleanup(), NOW, 1);
    let too_old = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(too_old, FeedResult::Truncated), "{too_old:?}");
    assert_eq!(since(last), (vec![], last));
}

/// A position ahead of the store means lost commits. In a shared store, so does a change with the
/// stamp of another transaction.
fn a_position_outside_the_history_is_detected(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    create(&mut *store, 1, "Lamp", false);
    let here = position(&*readers, 1);
    let since = |position| readers.changes_since(shop(1), None, position).unwrap();
    assert!(
        matches!(since(here), FeedResult::Changes(changes, at) if changes.is_empty() && at == here)
    );
    let ahead = Position { seq: Seq(here.seq.0 + 1), ..here };
    assert!(matches!(since(ahead), FeedResult::Diverged(at) if at == here));
    let elsewhere = Position { stamp: TxStamp(Some(-1)), ..here };
    assert_eq!(matches!(since(elsewhere), FeedResult::Diverged(_)), readers.is_shared());
    let mut transaction = store.begin().unwrap();
    transaction.create(shop(1), draft("Rug", false), NOW).unwrap();
    let positions = transaction.commit().unwrap().positions;
    let after = position(&*readers, 1);
    match readers.is_shared() {
        true => assert_eq!((positions[0].before, positions[0].after), (here, after)),
        false => assert!(positions.is_empty()),
    }
    assert!(
        matches!(since(here), FeedResult::Changes(changes, at) if changes.len() == 1 && at == after)
    );
}
