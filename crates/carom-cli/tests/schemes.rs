//! `carom compare --schemes`.

use crate::support::{Folder, stderr, stdout};

