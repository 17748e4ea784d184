// Any bytes as the name of a read and of a write: an accepted name has one form, which parses to
// the same name.
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/store/reapi/server/resource_name.h"
#include "common/store/reapi/server/testing/resource_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::store;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = ParseReadName(text);
  if (read.ok()) {
    GALLEY_CHECK(read->upload_id.empty() && CheckInstanceName(read->instance).ok());
    GALLEY_CHECK(FormatResourceName(*read) == text);
  }
  const auto write = ParseWriteName(text);
  if (write.ok()) {
    GALLEY_CHECK(!read.ok() && CheckInstanceName(write->instance).ok());
    GALLEY_CHECK(text.starts_with(FormatResourceName(*write)));
    GALLEY_CHECK(ParseWriteName(FormatResourceName(*write)).value() == *write);
  }
  return 0;
}
