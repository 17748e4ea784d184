// Names that Windows cannot have, for trees that are used there.
#pragma once

#include <string>
#include <string_view>

namespace galley::tree {

// The fault of a path, and what to do: "it has the name 'aux.png', ...". Empty: Windows takes it.
//
// Refused, in a file's name and in a folder's: a device's name, with any extension and in any case
// (con, prn, aux, nul, com1 to com9, lpt1 to lpt9, conin$, conout$); one of < > : " \ | ? *; a
// control character; a dot or a blank at the end.
// Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
std::string WindowsNameFault(std::string_view path);

}  // namespace galley::tree
