// The files that staging left in a sandbox, after anybody wrote to them: "<marker>\0<pending>". What comes out is only plain paths (for
// they are removed), and is read back as it was written.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/stage/ledger.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  static const std::string& folder = *new std::string(galley::MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  static const bool is_set = [] {
    galley::InitLog("fuzz", galley::LogLevel::kOff, "");
    return std::atexit([] { (void)galley::RemoveAll(folder); }) == 0;
  }();
  GALLEY_CHECK(is_set);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  GALLEY_CHECK(galley::WriteFileAtomic(galley::JoinPath(folder, kMarkerName), bytes.substr(0, end)).ok());
  if (end != std::string_view::npos) {
    GALLEY_CHECK(galley::WriteFileAtomic(galley::JoinPath(folder, kPendingName), bytes.substr(end + 1)).ok());
  } else {
    GALLEY_CHECK(galley::RemoveAll(galley::JoinPath(folder, kPendingName)).ok());
  }
  auto sandbox = Sandbox::Open(folder);
  GALLEY_CHECK(sandbox.ok());
  const auto ledger = ReadLedger(*sandbox);
  GALLEY_CHECK(ledger.ok());
  for (const std::string& path : ledger->beside) GALLEY_CHECK(galley::tree::IsPlainPath(path));
  if (!ledger->exact) return 0;
  GALLEY_CHECK(EndStaging(*sandbox, *ledger->exact, ledger->beside).ok());
  const auto again = ReadLedger(*sandbox);
  GALLEY_CHECK(again.ok() && again->exact == ledger->exact && again->beside == ledger->beside);
  return 0;
}
