// A loop over independent pieces of work, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace kenyon {

// Calls work(worker, piece) for every piece, on at most n_threads threads. The assignment of
// pieces to workers is not deterministic, so the result must not depend on it. If a thread cannot
// be started, the others do its work.
template <class Work>
void in_parallel(std::int64_t n_pieces, std::int64_t n_threads, Work work) {
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_pieces));
  std::atomic<std::int64_t> next{0};
  const auto loop = [&](std::int64_t worker) {
    for (std::int64_t piece = next++; piece < n_pieces; piece = next++) work(worker, piece);
  };
  std::vector<std::thread> threads;
  try {
    threads.reserve(static_cast<std::size_t>(n_workers));
    for (std::int64_t worker = 1; worker < n_workers; ++worker) threads.emplace_back(loop, worker);
  } catch (const std::exception&) {
  }
  loop(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace kenyon
