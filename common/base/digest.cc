#include "common/base/digest.h"

#include <openssl/evp.h>

#include <cstring>
#include <memory>

#include "common/base/errors.h"
#include "common/base/hex.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley {
namespace {

// Fetched once: for a few hundred bytes OpenSSL 3 takes longer to find the algorithm than to run
// it.
const EVP_MD* Sha256() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  GALLEY_CHECK(algorithm != nullptr);
  return algorithm;
}

}  // namespace

struct DigestBuilder::State {
  State() : context(EVP_MD_CTX_new()) {
    GALLEY_CHECK(context != nullptr);
    GALLEY_CHECK(EVP_DigestInit_ex2(context, Sha256(), nullptr) == 1);
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* context;
  uint64_t size_bytes = 0;
};

DigestBuilder::DigestBuilder() : state_(std::make_unique<State>()) {}
DigestBuilder::~DigestBuilder() = default;
DigestBuilder::DigestBuilder(DigestBuilder&&) noexcept = default;
DigestBuilder& DigestBuilder::operator=(DigestBuilder&&) noexcept = default;

void DigestBuilder::Add(std::string_view bytes) {
  GALLEY_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
  state_->size_bytes += bytes.size();
}

Digest DigestBuilder::Finish() {
  Digest digest;
  unsigned int length = 0;
  GALLEY_CHECK(EVP_DigestFinal_ex(state_->context, digest.hash_.data(), &length) == 1);
  GALLEY_CHECK(length == Digest::kHashSize);
  digest.size_bytes_ = state_->size_bytes;
  return digest;
}

Digest::Digest() {
  // SHA-256 of the empty string (FIPS 180-4).
  static constexpr uint8_t kEmpty[kHashSize] = {0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14,
                                                0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
                                                0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c,
                                                0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55};
  std::memcpy(hash_.data(), kEmpty, kHashSize);
}

// Every thread keeps one context: the bytes are often so few that making a context would be half of
// the work.
Digest Digest::Of(std::string_view bytes) {
  struct Freed {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  static thread_local const std::unique_ptr<EVP_MD_CTX, Freed> context(EVP_MD_CTX_new());
  Digest digest;
  unsigned int length = 0;
  GALLEY_CHECK(EVP_DigestInit_ex2(context.get(), Sha256(), nullptr) == 1);
  GALLEY_CHECK(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  GALLEY_CHECK(EVP_DigestFinal_ex(context.get(), digest.hash_.data(), &length) == 1);
  GALLEY_CHECK(length == kHashSize);
  digest.size_bytes_ = bytes.size();
  return digest;
}

absl::StatusOr<Digest> Digest::FromHash(std::string_view hash, uint64_t size_bytes) {
  if (hash.size() != kHashSize) {
    return InvalidArgumentError("digest hash has {} bytes, expected {}", hash.size(), kHashSize);
  }
  if (size_bytes > kSizeMax) return absl::InvalidArgumentError("digest size is out of range");
  Digest digest;
  std::memcpy(digest.hash_.data(), hash.data(), kHashSize);
  digest.size_bytes_ = size_bytes;
  return digest;
}

absl::StatusOr<Digest> Digest::FromHex(std::string_view hex, int64_t size_bytes) {
  Digest digest;
  if (!HexDecodeTo(hex, digest.hash_))
    return absl::InvalidArgumentError("digest hash is not 64 lower-case hex digits");
  if (size_bytes < 0) return absl::InvalidArgumentError("digest size is negative");
  digest.size_bytes_ = static_cast<uint64_t>(size_bytes);
  return digest;
}

absl::StatusOr<Digest> Digest::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return absl::InvalidArgumentError("digest is not of the form <64 hex digits>/<size>");
  }
  const std::string_view number = text.substr(slash + 1);
  const auto size = ParseWhole<int64_t>(number);
  if (!size || (number.size() > 1 && number[0] == '0') || number[0] == '-') {
    return absl::InvalidArgumentError("digest size is not a decimal number");
  }
  return FromHex(text.substr(0, slash), *size);
}

std::string Digest::hex() const { return HexEncode(hash()); }

std::string Digest::ToString() const { return fmt::format("{}/{}", hex(), size_bytes_); }

size_t DigestHash::operator()(const Digest& digest) const noexcept {
  size_t value = 0;
  std::memcpy(&value, digest.hash().data(), sizeof(value));
  return value;
}

}  // namespace galley
