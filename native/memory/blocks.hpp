// A matrix of cells by classes, stored in blocks of kPerRow classes. In a block, each cell has one
// row: one cache line. Adding classes does not move the existing blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace kenyon {

template <class T, std::int64_t kPerRow>
class Blocks {
 public:
  explicit Blocks(std::int64_t n_cells) : n_cells_(n_cells) {}

  Blocks(const Blocks& other) : n_cells_(other.n_cells_), n_classes_(other.n_classes_) {
    for (const Block& block : other.blocks_) {
      blocks_.push_back(new_block());
      std::memcpy(blocks_.back().get(), block.get(), block_bytes());
    }
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

  // New classes are zero. Classes that are removed must already be zero.
  void resize(std::int64_t n_classes) {
    const std::size_t n_blocks = static_cast<std::size_t>((n_classes + kPerRow - 1) / kPerRow);
    while (blocks_.size() < n_blocks) {
      blocks_.push_back(new_block());
      std::memset(blocks_.back().get(), 0, block_bytes());
    }
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
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  using Block = std::unique_ptr<T[], Free>;

  std::size_t block_bytes() const {
    return static_cast<std::size_t>(n_cells_ * kPerRow) * sizeof(T);
  }

  Block new_block() const {
    T* memory = static_cast<T*>(std::aligned_alloc(64, block_bytes()));
    if (memory == nullptr) throw std::bad_alloc();
    return Block(memory);
  }

  std::int64_t n_cells_;
  std::int64_t n_classes_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace kenyon
