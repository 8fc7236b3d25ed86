// The working memory of one thread, sized for a wiring.
#pragma once

#include <cstdint>

namespace kenyon {

// Cells from which candidates are collected at a time.
constexpr std::int64_t kBlock = 64;

// The largest number of cells from which the threshold is estimated.
constexpr std::int64_t kMaxSampled = 2048;

struct Scratch {
  std::int16_t* quantised;          // [n_features]
  std::int16_t* channels;           // [n_channels], one sample
  std::uint32_t* nonzero_channels;  // [n_channels], their indices
  std::int16_t* psi;                // [padded_cells], one sample; zero after n_cells
  std::int16_t* tile;               // [n_channels][32]
  std::int16_t* sampled_psi;        // [kMaxSampled][32]; zero after n_cells
  std::int16_t* block_psi;          // [kBlock][32]
  std::uint32_t* cells;             // [32][candidate_capacity]
  std::int16_t* candidate_psi;      // [32][candidate_capacity]
  std::int64_t candidate_capacity;
};

}  // namespace kenyon
