// SPIR-V words: the words of a module, for readers that need no library (SPIR-V Specification,
// 2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spirv_cross/spirv.h"

namespace galley::worker {

inline constexpr size_t kSpirvHeaderWords = 5;

struct SpirvInstruction {
  SpvOp opcode;
  std::span<const uint32_t> operands;
};

// Calls `visit(const SpirvInstruction&)` for each instruction.
// REQUIRES: a module that glslang or spirv-opt wrote.
template <typename Visit>
void ForEachInstruction(const std::vector<uint32_t>& module, const Visit& visit) {
  for (size_t at = kSpirvHeaderWords; at < module.size();) {
    const size_t count = module[at] >> 16;
    if (count == 0 || count > module.size() - at) return;
    visit(SpirvInstruction{.opcode = static_cast<SpvOp>(module[at] & 0xFFFF),
                           .operands = std::span(module).subspan(at + 1, count - 1)});
    at += count;
  }
}

// The text that begins at the first of `words`.
std::string LiteralTextOf(std::span<const uint32_t> words);

// Appends an instruction that ends with a text, such as OpName.
void AppendWithText(SpvOp opcode, std::span<const uint32_t> operands, std::string_view text,
                    std::vector<uint32_t>& module);

}  // namespace galley::worker
