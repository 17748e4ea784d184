#include "worker/cookers/shader/spirv_words.h"

namespace galley::worker {

std::string LiteralTextOf(std::span<const uint32_t> words) {
  std::string text;
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>((word >> shift) & 0xFF);
      if (c == '\0') return text;
      text += c;
    }
  }
  return text;
}

void AppendWithText(SpvOp opcode, std::span<const uint32_t> operands, std::string_view text,
                    std::vector<uint32_t>& module) {
  std::vector<uint32_t> words(text.size() / 4 + 1);
  for (size_t i = 0; i < text.size(); ++i)
    words[i / 4] |= uint32_t{static_cast<unsigned char>(text[i])} << (i % 4 * 8);
  const size_t count = 1 + operands.size() + words.size();
  module.push_back(static_cast<uint32_t>(count << 16) | static_cast<uint32_t>(opcode));
  module.insert(module.end(), operands.begin(), operands.end());
  module.insert(module.end(), words.begin(), words.end());
}

}  // namespace galley::worker
