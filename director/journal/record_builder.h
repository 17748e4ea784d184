// RecordBuilder: builds the record of one package from its entries in the journal, which come in
// the order of their tags.
//
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "director/journal/encoding.h"
#include "director/journal/journal.h"
#include "director/journal/keys.h"

namespace galley::director {

class RecordBuilder {
 public:
  // Adds an entry. DATA_LOSS: the key or the value is malformed.
  absl::Status Add(std::string_view key, std::string_view value);
  // Returns the record so far, and begins anew; nullopt: the package has no entry.
  std::optional<PackageRecord> Take();

 private:
  absl::Status AddPart(const PackageKeyParts& parts, std::string_view value);

  PackageRecord record_;
  std::vector<std::pair<std::string, Published>> published_;
};

}  // namespace galley::director
