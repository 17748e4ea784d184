#include "common/vfs/win32.h"

#include <array>

namespace galley::vfs {

std::wstring ToWide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');  // no character has fewer bytes than units of UTF-16
  const int done =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), size, wide.data(), size);
  wide.resize(static_cast<size_t>(done));
  return wide;
}

std::string ToUtf8(std::wstring_view text) {
  std::string utf8(3 * text.size(), '\0');  // a unit of UTF-16 has three bytes at most
  const int done = ::WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text.data(),
                                         static_cast<int>(text.size()), utf8.data(),
                                         static_cast<int>(utf8.size()), nullptr, nullptr);
  utf8.resize(static_cast<size_t>(done));
  return utf8;
}

std::string TextOfError(DWORD error) {
  std::array<wchar_t, 512> text{};
  const DWORD size =
      ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error,
                       0, text.data(), static_cast<DWORD>(text.size()), nullptr);
  std::string utf8 = ToUtf8({text.data(), size});
  utf8.resize(utf8.find_last_not_of(" .\r\n") + 1);
  return utf8 + (utf8.empty() ? "error " : " (error ") + std::to_string(error) +
         (utf8.empty() ? "" : ")");
}

}  // namespace galley::vfs
