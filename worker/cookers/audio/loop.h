// Loop points: read from a file's comments, checked against its length, scaled to another rate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

namespace galley::worker::audio {

// `value` * to / from, rounded to the nearest, halves up. Sounds and loop points are scaled by this
// function alone, so that a loop that ends with the sound still does so afterwards. REQUIRES: value
// < 2^40, rates < 2^20.
uint64_t ScaleFrames(uint64_t value, uint32_t from_rate, uint32_t to_rate);

// The loop in comments "NAME=value": LOOPSTART (0 when absent), and LOOPLENGTH or LOOPEND (the
// frame after the loop's last; the sound's end when both are absent). Names may have any case.
// nullopt: no such comment. INVALID_ARGUMENT: no numbers, or contradictory numbers.
absl::StatusOr<std::optional<Loop>> LoopOfComments(const std::vector<std::string>& comments,
                                                   uint64_t frames);

// A loop that ends behind the sound is clamped with a warning. INVALID_ARGUMENT: the loop has no
// length, or starts behind the sound.
absl::StatusOr<Loop> FitLoop(Loop loop, uint64_t frames, std::vector<std::string>& warnings);

// REQUIRES: `loop` lies within a sound that has at least one frame at `to_rate`.
Loop ScaleLoop(const Loop& loop, uint32_t from_rate, uint32_t to_rate, uint64_t to_frames);

}  // namespace galley::worker::audio
