#include "encode/wiring.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kenyon {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), without bias (Lemire 2019).
  std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t rejected = (0u - bound) % bound;
    std::uint64_t product;
    do {
      product = (next() >> 32) * bound;
    } while (static_cast<std::uint32_t>(product) < rejected);
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

// Each cell has its own random stream, so a circuit with more cells begins with the cells of a
// smaller one.
void draw_wiring(std::uint64_t seed, std::int64_t n_channels, std::int64_t n_cells,
                 std::int64_t fan_in, std::uint32_t* connections) {
  std::vector<std::uint32_t> channels(static_cast<std::size_t>(n_channels));
  std::vector<std::uint32_t> swapped(static_cast<std::size_t>(fan_in));
  const std::uint64_t stream = SplitMix64(seed).next();
  std::iota(channels.begin(), channels.end(), 0u);
  for (std::int64_t cell = 0; cell < n_cells; ++cell) {
    SplitMix64 random(SplitMix64(stream + static_cast<std::uint64_t>(cell)).next());
    std::uint32_t* drawn = connections + cell * fan_in;
    for (std::int64_t i = 0; i < fan_in; ++i) {
      swapped[i] =
          static_cast<std::uint32_t>(i) + random.below(static_cast<std::uint32_t>(n_channels - i));
      std::swap(channels[i], channels[swapped[i]]);
      drawn[i] = channels[i];
    }
    for (std::int64_t i = fan_in; i-- > 0;) std::swap(channels[i], channels[swapped[i]]);
    std::sort(drawn, drawn + fan_in);
  }
}

}  // namespace kenyon
