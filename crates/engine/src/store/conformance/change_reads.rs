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
        let News::Since(touched, upto) = found else { panic!("{found:?}") };
        let shown = touched.into_iter().map(|touched| match touched {
            Touched::Upserted { product, meaning } => match meaning {
                Meaning::Known(vector) => (product.id, Some((product, Some(vector)))),
                _ => (product.id, Some((product, None))),
            },
            Touched::Deleted { id, .. } => (id, None),
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
    // However often a product changed, it is told once, as it is, after those that changed before.
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
    let with_vector = Some((made[2].clone(), Some(row.vector)));
    let expected =
        vec![(made[1].id, None), (hidden.id, Some((hidden, None))), (made[2].id, with_vector)];
    assert_eq!(since(at[2]), (expected, last));
    assert!(position(&*readers, 2).seq >= elsewhere.version);
    // What was removed cannot be told.
    clean(&mut *subject.cleanup(), NOW, 1);
    let too_old = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(too_old, News::TooOld), "{too_old:?}");
    assert_eq!(since(last), (vec![], last));
}

/// A change that is ahead of the store was lost. In stores that many write to, so was one that
/// another transaction made.
fn a_position_outside_the_history_is_detected(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    create(&mut *store, 1, "Lamp", false);
    let here = position(&*readers, 1);
    let since = |position| readers.changes_since(shop(1), None, position).unwrap();
    assert!(matches!(since(here), News::Since(touched, at) if touched.is_empty() && at == here));
    let ahead = Position { seq: Seq(here.seq.0 + 1), ..here };
    assert!(matches!(since(ahead), News::Diverged(at) if at == here));
    let elsewhere = Position { stamp: Stamp(Some(-1)), ..here };
    assert_eq!(matches!(since(elsewhere), News::Diverged(_)), readers.is_shared());
    let mut transaction = store.begin().unwrap();
    transaction.create(shop(1), draft("Rug", false), NOW).unwrap();
    let steps = transaction.commit().unwrap().steps;
    let after = position(&*readers, 1);
    match readers.is_shared() {
        true => assert_eq!((steps[0].before, steps[0].after), (here, after)),
        false => assert!(steps.is_empty()),
    }
    assert!(matches!(since(here), News::Since(touched, at) if touched.len() == 1 && at == after));
}
