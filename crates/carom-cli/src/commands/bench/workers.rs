//! Jobs on a few threads; results in the order of the jobs, whoever does them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does all jobs, on `threads` threads or as many as the machine has.
pub fn on_threads<R: Send>(n_jobs: usize, threads: Option<u16>, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let n = threads.filter(|n| *n > 0).map_or_else(all, usize::from).min(n_jobs);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(n_jobs)));
    std::thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n_jobs {
                        return;
                    }
                    let result = job(i);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((i, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::on_threads;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [Some(1), Some(3), None] {
            assert_eq!(on_threads(20, threads, |i| i * i), (0..20).map(|i| i * i).collect::<Vec<_>>());
        }
    }
}
