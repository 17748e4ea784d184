// LogRecordFuzz: a line of any bytes, as a worker may send it or an edited file may have it: a
// record that is read has no control bytes, and is read back as it was written.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "director/logs/log_record.h"

using namespace galley;
using namespace galley::director;

namespace {

void CheckPlain(std::string_view text) {
  GALLEY_CHECK(std::none_of(text.begin(), text.end(),
                            [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const LogRecord said{.worker = std::string(bytes.substr(0, size / 4)),
                       .package = std::string(bytes.substr(size / 4, size / 4)),
                       .text = std::string(bytes)};
  const std::string line = EncodeLogRecord(said);
  CheckPlain(line.substr(0, line.size() - 1));
  GALLEY_CHECK(LogFileStem(said.worker).find_first_of("/.") == std::string::npos);
  if (const auto read = DecodeLogRecord(bytes); read.ok()) {
    for (const std::string& text : {read->worker, read->machine, read->package, read->text})
      CheckPlain(text);
    GALLEY_CHECK(DecodeLogRecord(EncodeLogRecord(*read)).ok());
  }
  return 0;
}
