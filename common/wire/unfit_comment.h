// The text that a worker of Slurm that ends unfit writes into its job's comment, for its director.
#pragma once

namespace galley::wire {

// The comment begins with this; its last words follow.
inline constexpr const char* kUnfitComment = "galley-worker is unfit: ";

}  // namespace galley::wire
