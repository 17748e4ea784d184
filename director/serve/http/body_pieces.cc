#include "director/serve/http/body_pieces.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <variant>

#include "common/base/hex.h"
#include "common/base/status_macros.h"

namespace galley::director {

std::vector<std::string_view> PiecesOf(std::string_view head, const std::vector<BodyPart>& parts,
                                       const Blob& bytes) {
  std::vector<std::string_view> pieces(1, head);
  for (const BodyPart& part : parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      pieces.emplace_back(*text);
    } else {
      const auto& range = std::get<http::ByteRange>(part);
      pieces.push_back(std::string_view(*bytes).substr(range.first, range.last - range.first + 1));
    }
  }
  return pieces;
}

void DropWritten(size_t bytes, std::vector<std::string_view>& pieces, size_t& first) {
  while (bytes > 0) {
    const size_t taken = std::min(bytes, pieces[first].size());
    pieces[first].remove_prefix(taken);
    bytes -= taken;
    if (pieces[first].empty()) ++first;
  }
}

std::string NewBoundary() {
  std::array<unsigned char, 20> bytes{};
  GALLEY_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return HexEncode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace galley::director
