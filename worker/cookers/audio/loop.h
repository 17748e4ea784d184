// Loop points: read from a file's comments, checked against its length, scaled to another rate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

namespace galley::worker::audio {

// Returns `value` * to_rate / from_rate, rounded to the nearest, halves up. Lengths of sounds and
// loop points are scaled by this function only, so that a loop that ended with the sound still
// ends with the scaled sound. REQUIRES: value < 2^40, rates < 2^20.
uint64_t ScaleFrames(uint64_t value, uint32_t from_rate, uint32_t to_rate);

// Returns the loop that comments of the form "NAME=value" give; values are frames, and names may
// have any case. LOOPSTART is the first frame; without it the loop starts at 0. LOOPLENGTH is the
// length, or LOOPEND the frame after the last; without both the loop ends with the sound, which has
// `frames` frames. nullopt: no such comment. INVALID_ARGUMENT: a value is not a number, or the
// values contradict each other.
absl::StatusOr<std::optional<Loop>> LoopOfComments(const std::vector<std::string>& comments,
                                                   uint64_t frames);

// Clamps a loop that ends after the sound, and adds a warning. INVALID_ARGUMENT: the loop has no
// length, or does not start within the sound.
absl::StatusOr<Loop> FitLoop(Loop loop, uint64_t frames, std::vector<std::string>& warnings);

// REQUIRES: `loop` lies within a sound that has at least one frame at `to_rate`.
Loop ScaleLoop(const Loop& loop, uint32_t from_rate, uint32_t to_rate, uint64_t to_frames);

}  // namespace galley::worker::audio
