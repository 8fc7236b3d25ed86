// Threads that take the next piece of work until none is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace kenyon {

// Calls work(worker, piece) for every piece, by at most n_threads workers.
// Which worker takes a piece is left to chance, so work must not depend on it.
// A thread that cannot be started is done without.
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
