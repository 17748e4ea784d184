// The comment that an unfit worker of Slurm gives its job, for its director.
#pragma once

namespace galley::wire {

// The beginning of the comment; the worker's last words follow.
inline constexpr const char* kUnfitComment = "galley-worker is unfit: ";

}  // namespace galley::wire
