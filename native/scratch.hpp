// The working memory of one thread, laid out for a wiring.
#pragma once

#include <cstdint>

namespace kenyon {

// Cells that candidates are collected from at a time.
constexpr std::int64_t kBlock = 64;

// Cells that the threshold is guessed from, at most.
constexpr std::int64_t kMaxSampled = 2048;

struct Scratch {
  std::int16_t* quantised;      // [n_features]
  std::int16_t* channels;       // [n_channels], one sample
  std::uint32_t* heard;         // [n_channels], its channels that are not 0
  std::int16_t* psi;            // [padded_cells], one sample; zero behind n_cells
  std::int16_t* tile;           // [n_channels][32]
  std::int16_t* sampled_psi;    // [kMaxSampled][32]; zero behind n_cells
  std::int16_t* block_psi;      // [kBlock][32]
  std::uint32_t* cells;         // [32][candidate_capacity]
  std::int16_t* candidate_psi;  // [32][candidate_capacity]
  std::int64_t candidate_capacity;
};

}  // namespace kenyon
