// Any bytes as a file of identities: each identity that is read has a credential, no two have the
// same, and none has a right beyond its role.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/store/reapi/server/gate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::store;
  const auto identities =
      ParseIdentities({reinterpret_cast<const char*>(data), size}, "identities.toml");
  if (!identities.ok()) return 0;
  GALLEY_CHECK(!identities->empty());
  std::set<std::string> tokens, certificates;
  for (const Identity& identity : *identities) {
    GALLEY_CHECK(!identity.name.empty());
    GALLEY_CHECK(!identity.token_sha256.empty() || !identity.certificate.empty());
    GALLEY_CHECK(identity.token_sha256.empty() || tokens.insert(identity.token_sha256).second);
    GALLEY_CHECK(identity.certificate.empty() || certificates.insert(identity.certificate).second);
    GALLEY_CHECK(identity.role != Role::kReader || !identity.may_write_results);
  }
  GALLEY_CHECK(!Gate(*identities).Admit({.authorization = "Bearer x"}, Right::kRead).ok());
  return 0;
}
