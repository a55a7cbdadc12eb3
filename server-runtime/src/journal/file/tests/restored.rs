//! The mark of a backup: it goes when something was appended, and never before that is durable.

use super::*;

/// A log of two records that came from a backup.
fn restored(name: &str) -> Life {
    let mut life = Life::new(name, FILLED);
    life.start(Fault::None, 2);
    fs::write(life.dir.join("restored"), []).unwrap();
    life.disk = Recorder::new(life.dir.ancestors().nth(2).unwrap());
    life.backup = Some(2);
    life
}

fn is_restored(life: &Life) -> bool {
    life.open().unwrap().found().restored
}

#[test]
fn the_mark_of_a_backup_goes_with_the_first_append() {
    let mut life = restored("without a fault");
    let journal = life.open().unwrap();
    assert!(journal.found().restored);
    drop(journal);
    assert!(is_restored(&life), "a start alone removes nothing");
    life.start(Fault::None, 1);
    assert!(!is_restored(&life));
    life.disk.lose_power(Luck::Nothing);
    assert!(!is_restored(&life), "it is gone for good");
}

#[test]
fn the_mark_of_a_backup_is_there_until_an_append_is_durable() {
    let mut life = restored("without a fault");
    life.start(Fault::None, 1);
    for n in 0..=life.disk.done() {
        for seed in 0..20 {
            let luck = match seed {
                0 => Luck::Nothing,
                1 => Luck::Everything,
                seed => Luck::Random((n * 20 + seed) as u64),
            };
            for fault in [Fault::Stop(n), Fault::Fail(n)] {
                let mut life = restored(&format!("{fault:?}, {luck:?}"));
                life.start(fault, 1);
                life.disk.lose_power(luck);
                life.start(Fault::None, 0);
                life.start(Fault::None, 1);
                life.disk.lose_power(luck);
                life.start(Fault::None, 0);
                assert!(!is_restored(&life), "{}", life.name);
            }
        }
    }
}
