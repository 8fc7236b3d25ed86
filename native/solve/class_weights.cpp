#include "solve/class_weights.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>

#include "dispatch.hpp"
#include "faults.hpp"
#include "parallel.hpp"

namespace kenyon {
namespace {

// Codes that `scores` multiplies with a row while the row is in the cache.
constexpr std::int64_t kCodesPerPiece = 16;

// Codes that read a block of bytes while it is in the cache: as many as give this number of bounds.
constexpr std::int64_t kBoundsPerPiece = std::int64_t{1} << 20;
constexpr std::int64_t kMinRankedPerPiece = 16;
constexpr std::int64_t kMaxRankedPerPiece = 64;

// Numbers of the terms that should fit into the first-level cache, and the smallest step of cells.
constexpr std::int64_t kTermsInCache = 2048;
constexpr std::int64_t kMinCellsAtOnce = 64;

// A score is a sum of at most kMaxCells rounded products, so its rounding error is below
// 2^31 * 2^-53 < 1e-6 times the sum of absolute values. This covers the error of the bound, too.
constexpr double kScoreSlack = 1e-6;
// Covers the rounding errors of three additions of an offset.
constexpr double kOffsetSlack = 1e-15;

template <class T>
void reserve_one(std::vector<T>& vector) {
  if (vector.size() == vector.capacity()) vector.reserve(2 * vector.size() + 1);
}

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

void fill_dense(const Code& code, std::int64_t n, double* dense) {
  std::fill(dense, dense + n, 0.0);
  for (std::int64_t i = 0; i < code.n; ++i) dense[code.cells[i]] = code.levels[i];
}

double sum_of_levels(const Code& code) {
  return static_cast<double>(std::accumulate(code.levels, code.levels + code.n, std::int64_t{0}));
}

}  // namespace

ClassWeights::ClassWeights(std::int64_t n_cells, std::int64_t n_classes)
    : stride_(round_up(n_cells, kRowLanes)),
      is_float_(n_classes > kMaxDoubleClasses),
      bytes_(n_cells) {
  while (this->n_classes() < n_classes) insert();
}

ClassWeights::ClassWeights(const ClassWeights& other)
    : stride_(other.stride_),
      is_float_(other.is_float_),
      bytes_(other.bytes_),
      steps_(other.steps_),
      radii_(other.radii_) {
  const auto copy_rows = [&](const auto& from, auto& to) {
    for (const auto& row : from) {
      to.push_back(new_row<std::remove_reference_t<decltype(row[0])>>());
      std::copy(row.get(), row.get() + stride_, to.back().get());
    }
  };
  copy_rows(other.doubles_, doubles_);
  copy_rows(other.floats_, floats_);
}

std::int64_t ClassWeights::nbytes() const {
  const std::int64_t weight = is_float_ ? sizeof(float) : sizeof(double);
  const std::int64_t bounds = 2 * sizeof(double);
  return n_classes() * (stride_ * weight + bounds) + bytes_.nbytes();
}

template <class T>
ClassWeights::Row<T> ClassWeights::new_row() const {
  const std::size_t size = static_cast<std::size_t>(stride_) * sizeof(T);
  T* memory = allocation_fails() ? nullptr : static_cast<T*>(std::aligned_alloc(64, size));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill(memory, memory + stride_, T{0});
  return Row<T>(memory);
}

void ClassWeights::get(std::int64_t slot, double* row) const {
  with_rows([&](const auto& rows) {
    const auto* weights = rows[static_cast<std::size_t>(slot)].get();
    std::copy(weights, weights + n_cells(), row);
  });
}

void ClassWeights::set(std::int64_t slot, const double* row) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(stride_));
  with_rows([&](auto& rows) {
    auto* weights = rows[static_cast<std::size_t>(slot)].get();
    using T = std::remove_reference_t<decltype(*weights)>;
    std::transform(row, row + n_cells(), weights, [](double w) { return static_cast<T>(w); });
  });
  renew_bytes(slot, bytes.data());
  std::uint8_t* column = bytes_.column(slot);
  for (std::int64_t i = 0; i < n_cells(); ++i)
    column[i * kBytesPerRow] = bytes[static_cast<std::size_t>(i)];
}

template <class T>
void ClassWeights::set_rows(std::int64_t first, std::int64_t n, const T* from,
                            std::int64_t n_threads) {
  if (n == 0) return;
  const std::int64_t first_block = first / kBytesPerRow;
  const std::int64_t n_blocks = (first + n - 1) / kBytesPerRow - first_block + 1;
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_blocks));
  const std::int64_t n_bytes = kBytesPerRow * stride_;
  std::vector<std::uint8_t> buffers(static_cast<std::size_t>(n_workers * n_bytes));
  in_parallel(n_blocks, n_workers, [&](std::int64_t worker, std::int64_t i) {
    const std::int64_t start = std::max(first, (first_block + i) * kBytesPerRow);
    const std::int64_t stop = std::min(first + n, (first_block + i + 1) * kBytesPerRow);
    for (std::int64_t slot = start; slot < stop; ++slot)
      with_rows([&](auto& rows) {
        auto* weights = rows[static_cast<std::size_t>(slot)].get();
        using Weight = std::remove_reference_t<decltype(*weights)>;
        const T* row = from + (slot - first) * n_cells();
        std::transform(row, row + n_cells(), weights, [](T w) { return static_cast<Weight>(w); });
      });
    renew_block(first_block + i, buffers.data() + worker * n_bytes);
  });
}

template void ClassWeights::set_rows(std::int64_t, std::int64_t, const float*, std::int64_t);
template void ClassWeights::set_rows(std::int64_t, std::int64_t, const double*, std::int64_t);

// Everything that can throw comes before the first change.
template <class T>
void ClassWeights::append(Rows<T>& rows) {
  Row<T> row = new_row<T>();
  reserve_one(rows);
  reserve_one(steps_);
  reserve_one(radii_);
  bytes_.resize(n_classes() + 1);
  rows.push_back(std::move(row));
  steps_.push_back(0);
  radii_.push_back(0);
}

void ClassWeights::insert() {
  if (!is_float_ && n_classes() == kMaxDoubleClasses) convert_to_float();
  with_rows([&](auto& rows) { append(rows); });
}

void ClassWeights::convert_to_float() {
  Rows<float> floats;
  for (const Row<double>& row : doubles_) {
    floats.push_back(new_row<float>());
    std::transform(row.get(), row.get() + stride_, floats.back().get(),
                   [](double w) { return static_cast<float>(w); });
  }
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(kBytesPerRow * stride_));
  floats_ = std::move(floats);
  doubles_.clear();
  is_float_ = true;
  for (std::int64_t b = 0; b < bytes_.n_blocks(); ++b) renew_block(b, buffer.data());
}

void ClassWeights::drop(std::int64_t slot) {
  const std::size_t dropped = static_cast<std::size_t>(slot);
  with_rows([&](auto& rows) {
    std::swap(rows[dropped], rows.back());
    rows.pop_back();
  });
  steps_[dropped] = steps_.back();
  steps_.pop_back();
  radii_[dropped] = radii_.back();
  radii_.pop_back();
  bytes_.drop(slot);
}

// Rounds the weights of a class to bytes, as a row.
void ClassWeights::renew_bytes(std::int64_t slot, std::uint8_t* row) {
  const std::size_t i = static_cast<std::size_t>(slot);
  const double largest = is_float_ ? kernel().round_floats(floats_[i].get(), stride_, row)
                                   : kernel().round_doubles(doubles_[i].get(), stride_, row);
  if (largest < kMinRounded) {
    steps_[i] = 0;
    radii_[i] = 2 * largest;
  } else {
    steps_[i] = largest / kMaxByteSteps;
    radii_[i] = steps_[i] / 2 + largest * kScoreSlack;
  }
}

// Renews the bytes of all classes of a block. `rows` has room for their rows.
void ClassWeights::renew_block(std::int64_t block, std::uint8_t* rows) {
  const std::int64_t first = block * kBytesPerRow;
  const std::int64_t n = std::min(kBytesPerRow, n_classes() - first);
  for (std::int64_t j = 0; j < n; ++j) renew_bytes(first + j, rows + j * stride_);
  kernel().transpose_bytes(rows, stride_, n_cells(), bytes_.block(block));
}

void ClassWeights::add(const double* gains, const double* errors, std::int64_t n_terms,
                       std::int64_t n_threads) {
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, bytes_.n_blocks()));
  const std::int64_t n_bytes = kBytesPerRow * stride_;
  std::vector<std::uint8_t> rows_of_bytes(static_cast<std::size_t>(n_workers * n_bytes));
  std::vector<double> factors(static_cast<std::size_t>(n_workers * kBytesPerRow * n_terms));
  // Gains are copied to tiles, which fit into the first-level cache: [tile][term][cell].
  const std::int64_t n_in_tile =
      std::max(kMinCellsAtOnce, kTermsInCache / std::max<std::int64_t>(1, n_terms));
  std::vector<double> tiles(static_cast<std::size_t>(round_up(n_cells(), n_in_tile) * n_terms));
  for (std::int64_t start = 0; start < n_cells(); start += n_in_tile)
    for (std::int64_t t = 0; t < n_terms; ++t)
      std::copy(gains + t * n_cells() + start,
                gains + t * n_cells() + std::min(start + n_in_tile, n_cells()),
                tiles.data() + start * n_terms + t * n_in_tile);
  in_parallel(bytes_.n_blocks(), n_workers, [&](std::int64_t worker, std::int64_t block) {
    const std::int64_t first = block * kBytesPerRow;
    const std::int64_t n = std::min(kBytesPerRow, n_classes() - first);
    double* by_class = factors.data() + worker * kBytesPerRow * n_terms;
    for (std::int64_t t = 0; t < n_terms; ++t)
      for (std::int64_t j = 0; j < n; ++j)
        by_class[j * n_terms + t] = errors[t * n_classes() + first + j];
    for (std::int64_t start = 0; start < n_cells(); start += n_in_tile) {
      const std::int64_t n_in_row = std::min(n_in_tile, n_cells() - start);
      for (std::int64_t j = 0; j < n; ++j) {
        const Terms terms{tiles.data() + start * n_terms, n_in_tile, by_class + j * n_terms,
                          n_terms};
        const std::size_t slot = static_cast<std::size_t>(first + j);
        if (is_float_)
          kernel().add_to_floats(floats_[slot].get() + start, terms, n_in_row);
        else
          kernel().add_to_doubles(doubles_[slot].get() + start, terms, n_in_row);
      }
    }
    renew_block(block, rows_of_bytes.data() + worker * n_bytes);
  });
}

void ClassWeights::multiply(std::int64_t slot, const double* dense, std::int64_t n_codes,
                            double* products) const {
  const std::size_t i = static_cast<std::size_t>(slot);
  if (is_float_)
    kernel().multiply_floats(floats_[i].get(), dense, stride_, n_codes, products);
  else
    kernel().multiply_doubles(doubles_[i].get(), dense, stride_, n_codes, products);
}

void ClassWeights::scores(const Codes& codes, std::int64_t first, std::int64_t n,
                          std::int64_t n_threads, double* by_slot) const {
  const std::int64_t n_pieces = (n + kCodesPerPiece - 1) / kCodesPerPiece;
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_pieces));
  const std::int64_t size = std::min(kCodesPerPiece, n) * stride_;
  std::vector<double> dense_codes(static_cast<std::size_t>(n_workers * size));
  in_parallel(n_pieces, n_workers, [&](std::int64_t worker, std::int64_t piece) {
    const std::int64_t start = piece * kCodesPerPiece;
    const std::int64_t n_codes = std::min(kCodesPerPiece, n - start);
    double* dense = dense_codes.data() + worker * size;
    for (std::int64_t i = 0; i < n_codes; ++i)
      fill_dense(codes[first + start + i], stride_, dense + i * stride_);
    for (std::int64_t slot = 0; slot < n_classes(); ++slot) {
      double products[kCodesPerPiece];
      multiply(slot, dense, n_codes, products);
      for (std::int64_t i = 0; i < n_codes; ++i)
        by_slot[(start + i) * n_classes() + slot] = products[i];
    }
  });
}

// The working memory of one thread. It is allocated in advance, since threads must not throw.
class ClassWeights::Reading {
 public:
  struct Candidate {
    std::int32_t slot;
    std::int32_t rank;
    double score;
  };

  Reading(const ClassWeights& weights, std::int64_t n_codes, std::int64_t k)
      : weights_(weights),
        n_classes_(static_cast<std::size_t>(weights.n_classes())),
        k_(static_cast<std::size_t>(k)),
        dense_(static_cast<std::size_t>(weights.stride_)),
        levels_(static_cast<std::size_t>(n_codes)),
        uppers_(static_cast<std::size_t>(n_codes) * n_classes_),
        lowers_(static_cast<std::size_t>(n_codes) * k_) {
    candidates_.reserve(n_classes_);
  }

  // Bounds the scores of all classes, for n codes from `first` on.
  void bound(const Codes& codes, std::int64_t first, std::int64_t n, const Scoring& scoring) {
    for (std::int64_t i = 0; i < n; ++i)
      levels_[static_cast<std::size_t>(i)] = sum_of_levels(codes[first + i]);
    std::fill(lowers_.begin(), lowers_.end(), -std::numeric_limits<double>::infinity());
    for (std::int64_t block = 0; block < weights_.bytes_.n_blocks(); ++block)
      for (std::int64_t i = 0; i < n; ++i)
        bound(codes[first + i], block, static_cast<std::size_t>(i), offsets(scoring, first + i),
              scoring.scale);
  }

  // The classes that can be among the k best of code i.
  std::vector<Candidate>& candidates(std::int64_t i,
                                     const std::vector<std::int32_t>& rank_of_slot) {
    const float* upper = uppers_.data() + static_cast<std::size_t>(i) * n_classes_;
    // Rounding is monotonic, so a bound that reaches the threshold reaches it as a float.
    const float threshold = static_cast<float>(lowers_[static_cast<std::size_t>(i) * k_]);
    candidates_.clear();
    for (std::size_t slot = 0; slot < n_classes_; ++slot)
      if (!(upper[slot] < threshold))
        candidates_.push_back({static_cast<std::int32_t>(slot), rank_of_slot[slot], 0});
    return candidates_;
  }

  // Sorts the best k candidates of a code by their exact scores.
  void sort(const Code& code, std::int64_t sample, const Scoring& scoring) {
    fill_dense(code, weights_.stride_, dense_.data());
    const double* offset = offsets(scoring, sample);
    for (Candidate& candidate : candidates_) {
      double raw;
      weights_.multiply(candidate.slot, dense_.data(), 1, &raw);
      if (offset != nullptr) raw += offset[candidate.slot];
      candidate.score = scoring.scale[candidate.slot] * raw;
    }
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::int64_t>(k_),
                      candidates_.end(), [](const Candidate& a, const Candidate& b) {
                        return a.score > b.score || (!(a.score < b.score) && a.rank < b.rank);
                      });
  }

 private:
  const double* offsets(const Scoring& scoring, std::int64_t sample) const {
    return scoring.offsets == nullptr ? nullptr : scoring.offsets + sample * weights_.n_classes();
  }

  // Bounds the scores of the classes of one block. The score, scale * (raw + offset), is rounded
  // after each operation. The slacks cover all roundings but the last one: a product with the scale
  // is monotonic.
  void bound(const Code& code, std::int64_t block, std::size_t i, const double* offset,
             const double* scale) {
    const std::int64_t first = block * kBytesPerRow;
    const std::int64_t n = std::min(kBytesPerRow, weights_.n_classes() - first);
    const double levels = levels_[i];
    const double* steps = weights_.steps_.data() + first;
    const double* radii = weights_.radii_.data() + first;
    float* uppers = uppers_.data() + i * n_classes_ + first;
    double sums[kBytesPerRow];
    double lowers[kBytesPerRow];
    kernel().read_bytes(code, weights_.bytes_.block(block), sums);
    for (std::int64_t j = 0; j < n; ++j) {
      double value = steps[j] * (sums[j] - kZeroByte * levels);
      double radius = radii[j] * levels;
      if (offset != nullptr) {
        value += offset[first + j];
        radius += std::abs(offset[first + j]) * kOffsetSlack;
      }
      lowers[j] = scale[first + j] * (value - radius);
      uppers[j] = static_cast<float>(scale[first + j] * (value + radius));
    }
    keep_largest(lowers, n, lowers_.data() + i * k_);
  }

  // Keeps the k largest lower bounds of a code as a heap, the smallest first.
  void keep_largest(const double* lowers, std::int64_t n, double* heap) const {
    for (std::int64_t j = 0; j < n; ++j)
      if (lowers[j] > heap[0]) {
        std::pop_heap(heap, heap + k_, std::greater<double>());
        heap[k_ - 1] = lowers[j];
        std::push_heap(heap, heap + k_, std::greater<double>());
      }
  }

  const ClassWeights& weights_;
  std::size_t n_classes_;
  std::size_t k_;
  std::vector<double> dense_;
  std::vector<double> levels_;
  std::vector<float> uppers_;
  std::vector<double> lowers_;
  std::vector<Candidate> candidates_;
};

// Calls use(i, reading, candidates) for each code i.
template <class Use>
void ClassWeights::read(const Codes& codes, std::int64_t k, const Scoring& scoring,
                        std::int64_t n_threads, Use use) const {
  const std::int64_t n = codes.n_samples();
  const std::int64_t per_piece =
      std::min(n, std::clamp(kBoundsPerPiece / std::max<std::int64_t>(1, n_classes()),
                             kMinRankedPerPiece, kMaxRankedPerPiece));
  const std::int64_t n_pieces = n == 0 ? 0 : (n + per_piece - 1) / per_piece;
  const std::int64_t n_workers = std::max<std::int64_t>(1, std::min(n_threads, n_pieces));
  std::vector<std::int32_t> rank_of_slot(static_cast<std::size_t>(n_classes()));
  for (std::size_t rank = 0; rank < rank_of_slot.size(); ++rank)
    rank_of_slot[static_cast<std::size_t>(scoring.slot_of_rank[rank])] =
        static_cast<std::int32_t>(rank);
  std::vector<Reading> readings;
  readings.reserve(static_cast<std::size_t>(n_workers));
  for (std::int64_t i = 0; i < n_workers; ++i) readings.emplace_back(*this, per_piece, k);
  in_parallel(n_pieces, n_workers, [&](std::int64_t worker, std::int64_t piece) {
    Reading& reading = readings[static_cast<std::size_t>(worker)];
    const std::int64_t first = piece * per_piece;
    const std::int64_t n_codes = std::min(per_piece, n - first);
    reading.bound(codes, first, n_codes, scoring);
    for (std::int64_t i = 0; i < n_codes; ++i)
      use(first + i, reading, reading.candidates(i, rank_of_slot));
  });
}

void ClassWeights::best(const Codes& codes, const Scoring& scoring, std::int64_t n_threads,
                        std::int32_t* ranks) const {
  read(codes, 1, scoring, n_threads, [&](std::int64_t i, Reading& reading, const auto& candidates) {
    if (candidates.size() > 1) reading.sort(codes[i], i, scoring);
    ranks[i] = candidates.front().rank;
  });
}

void ClassWeights::top(const Codes& codes, std::int64_t k, const Scoring& scoring,
                       std::int64_t n_threads, std::int32_t* ranks, double* scores) const {
  read(codes, k, scoring, n_threads, [&](std::int64_t i, Reading& reading, const auto& candidates) {
    reading.sort(codes[i], i, scoring);
    for (std::int64_t j = 0; j < k; ++j) {
      ranks[i * k + j] = candidates[static_cast<std::size_t>(j)].rank;
      scores[i * k + j] = candidates[static_cast<std::size_t>(j)].score;
    }
  });
}

void ClassWeights::count_candidates(const Codes& codes, const Scoring& scoring,
                                    std::int64_t n_threads, std::int64_t* counts) const {
  read(codes, 1, scoring, n_threads, [&](std::int64_t i, Reading&, const auto& candidates) {
    counts[i] = static_cast<std::int64_t>(candidates.size());
  });
}

}  // namespace kenyon
