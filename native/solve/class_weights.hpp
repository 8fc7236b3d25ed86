// The weights of a linear readout, and the best classes of a code by them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "encode/codes.hpp"
#include "kernel.hpp"
#include "memory/blocks.hpp"

namespace kenyon {

// One row of weights for each class. A class is given by its slot; a dropped class gives its slot
// to the last one.
//
// A second copy of the weights, of 8 bits each, makes ranking fast: it bounds the score of every
// class, and only classes whose upper bound reaches the best lower bound are scored exactly. So the
// best classes are those by exact scores. Every change of the weights renews the bytes at once,
// while the row is in the cache; therefore reading changes nothing, and several threads may read.
class ClassWeights {
 public:
  // Up to this number of classes the weights are double; then they become float and remain so.
  static constexpr std::int64_t kMaxDoubleClasses = 1024;

  // The score of a slot is scale[slot] * (raw score + offset). Offsets, if any, are
  // [n_samples][n_classes]. The scale is not negative.
  struct Scoring {
    const double* scale;
    const double* offsets;
    // The slots of the ranks 0, 1, 2, ... Of equal scores, the lowest rank is best.
    const std::vector<std::int32_t>& slot_of_rank;
  };

  // All weights are zero.
  ClassWeights(std::int64_t n_cells, std::int64_t n_classes);
  ClassWeights(const ClassWeights& other);
  ClassWeights& operator=(const ClassWeights&) = delete;

  std::int64_t n_cells() const { return bytes_.n_cells(); }
  std::int64_t n_classes() const { return static_cast<std::int64_t>(steps_.size()); }
  bool is_float() const { return is_float_; }
  std::int64_t nbytes() const;

  // Float weights are rounded by set, and by get no further.
  void get(std::int64_t slot, double* row) const;
  void set(std::int64_t slot, const double* row);
  // Sets n classes from `first` on.
  template <class T>
  void set_rows(std::int64_t first, std::int64_t n, const T* rows, std::int64_t n_threads);

  // Appends a class whose weights are zero.
  void insert();
  // Moves the last class into the slot.
  void drop(std::int64_t slot);

  // Adds sum over terms t of errors[t][slot] * gains[t] to the weights of each slot. The sum is
  // double, and float weights are rounded once.
  void add(const double* gains, const double* errors, std::int64_t n_terms, std::int64_t n_threads);

  // The raw scores of n codes from `first` on, [n][n_classes] by slot: sums of level * weight over
  // active cells.
  void scores(const Codes& codes, std::int64_t first, std::int64_t n, std::int64_t n_threads,
              double* by_slot) const;

  // The rank of the best class of each code.
  void best(const Codes& codes, const Scoring& scoring, std::int64_t n_threads,
            std::int32_t* ranks) const;

  // The ranks of the k best classes of each code, best first, and their scores: [n_samples][k].
  void top(const Codes& codes, std::int64_t k, const Scoring& scoring, std::int64_t n_threads,
           std::int32_t* ranks, double* scores) const;

  // The number of classes of each code that `best` has to score exactly.
  void count_candidates(const Codes& codes, const Scoring& scoring, std::int64_t n_threads,
                        std::int64_t* counts) const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <class T>
  using Row = std::unique_ptr<T[], Free>;
  template <class T>
  using Rows = std::vector<Row<T>>;
  class Reading;

  template <class Function>
  auto with_rows(Function function) {
    return is_float_ ? function(floats_) : function(doubles_);
  }
  template <class Function>
  auto with_rows(Function function) const {
    return is_float_ ? function(floats_) : function(doubles_);
  }

  template <class T>
  Row<T> new_row() const;
  template <class T>
  void append(Rows<T>& rows);
  void convert_to_float();
  void renew_bytes(std::int64_t slot, std::uint8_t* row);
  void renew_block(std::int64_t block, std::uint8_t* rows);
  void multiply(std::int64_t slot, const double* dense, std::int64_t n_codes,
                double* products) const;
  template <class Use>
  void read(const Codes& codes, std::int64_t k, const Scoring& scoring, std::int64_t n_threads,
            Use use) const;

  // Cells with padding.
  std::int64_t stride_;
  bool is_float_;
  Rows<double> doubles_;
  Rows<float> floats_;
  Blocks<std::uint8_t, kBytesPerRow> bytes_;
  // By slot: a weight is a number of steps, with an error of at most the radius.
  std::vector<double> steps_;
  std::vector<double> radii_;
};

}  // namespace kenyon
