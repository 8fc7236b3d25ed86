// A matrix of cells by classes, stored in blocks of kPerRow classes. In a block, each cell has one
// row: one cache line. Adding classes does not move the existing blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "memory/chunk.hpp"

namespace kenyon {

template <class T, std::int64_t kPerRow>
class Blocks {
 public:
  explicit Blocks(std::int64_t n_cells) : n_cells_(n_cells) {}

  Blocks(const Blocks& other) : n_cells_(other.n_cells_), n_classes_(other.n_classes_) {
    append(other.blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      std::memcpy(blocks_[b].get(), other.blocks_[b].get(), block_bytes());
  }

  std::int64_t n_cells() const { return n_cells_; }
  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
  std::int64_t nbytes() const { return n_blocks() * static_cast<std::int64_t>(block_bytes()); }
  const T* block(std::int64_t b) const { return blocks_[static_cast<std::size_t>(b)].get(); }
  T* block(std::int64_t b) { return blocks_[static_cast<std::size_t>(b)].get(); }

  // The value of a class for cell i is column(slot)[i * kPerRow].
  T* column(std::int64_t slot) { return block(slot / kPerRow) + slot % kPerRow; }
  const T* column(std::int64_t slot) const { return block(slot / kPerRow) + slot % kPerRow; }

  // New classes are zero. Classes that are removed must already be zero. If it throws, nothing
  // changes.
  void resize(std::int64_t n_classes) {
    const std::size_t n_before = blocks_.size();
    const std::size_t n_blocks = static_cast<std::size_t>((n_classes + kPerRow - 1) / kPerRow);
    if (n_blocks > n_before) append(n_blocks - n_before);
    for (std::size_t b = n_before; b < n_blocks; ++b)
      std::memset(blocks_[b].get(), 0, block_bytes());
    blocks_.resize(n_blocks);
    n_classes_ = n_classes;
  }

  // Moves the last class into the slot of the dropped one.
  void drop(std::int64_t slot) {
    T* last = column(n_classes_ - 1);
    T* dropped = column(slot);
    for (std::int64_t i = 0; i < n_cells_; ++i) {
      dropped[i * kPerRow] = last[i * kPerRow];
      last[i * kPerRow] = 0;
    }
    resize(n_classes_ - 1);
  }

 private:
  // A block is a part of a chunk, which is freed with its last block.
  using Block = std::shared_ptr<T[]>;
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 23;

  std::size_t block_size() const { return static_cast<std::size_t>(n_cells_ * kPerRow); }
  std::size_t block_bytes() const { return block_size() * sizeof(T); }

  // Adds uninitialised blocks, or throws and changes nothing.
  void append(std::size_t n_blocks) {
    const std::size_t per_chunk = std::max<std::size_t>(1, kChunkBytes / block_bytes());
    std::vector<Block> blocks = blocks_;
    for (std::size_t n = 0; n_blocks > 0; n_blocks -= n) {
      n = std::min(n_blocks, per_chunk);
      const Block chunk = new_chunk<T>(n * block_size());
      for (std::size_t b = 0; b < n; ++b)
        blocks.emplace_back(chunk, chunk.get() + b * block_size());
    }
    blocks_ = std::move(blocks);
  }

  std::int64_t n_cells_;
  std::int64_t n_classes_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace kenyon
