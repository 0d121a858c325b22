//! Rules and users that say anything: the fuzz target's oracle on a stable compiler.

mod naive;
mod oracle;

use lapwing_oracle::allocations::{Counting, assert_installed};
use lapwing_oracle::variants::check_near;

use oracle::{Outcome, access_seeds, check_access};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Do rules permit what they say, and no more, whatever names are filled in?
#[test]
fn any_rules_and_users() {
    assert_installed();
    let (mut permitted, mut forbidden, mut wrong) = (0, 0, 0);
    check_near("access", &access_seeds(), 6_000, |input| match check_access(input) {
        Outcome::Permitted => permitted += 1,
        Outcome::Forbidden => forbidden += 1,
        Outcome::Wrong => wrong += 1,
    });
    assert!(permitted > 200 && forbidden > 200 && wrong > 200, "{permitted} {forbidden} {wrong}");
}
