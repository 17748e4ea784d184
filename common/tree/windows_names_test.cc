#include "common/tree/windows_names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::tree {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WindowsNamesTest, NamesOfDevicesAreRefusedWithAnyExtensionInAnyCase) {
  for (const char* name :
       {"aux", "aux.png", "AUX.png.ktx2", "Con.txt", "prn.a.b", "nul", "NUL.d", "COM1.png", "lpt9",
        "com\u00b9.txt", "LPT\u00b3", "CONIN$", "conout$.x", "aux .png", "nul ."}) {
    EXPECT_THAT(WindowsNameFault(std::string("Game/") + name), HasSubstr("the device")) << name;
    EXPECT_THAT(WindowsNameFault(std::string("Game/") + name + "/file"), HasSubstr("the device"))
        << name << " is a folder";
  }
  EXPECT_EQ(WindowsNameFault("Game/AUX.png"),
            "it has the name 'AUX.png', that of the device aux, whatever follows a dot, which "
            "Windows cannot have (this platform has os = \"windows\"); give it another name");
}

TEST(WindowsNamesTest, CharactersAndEndsThatWindowsHasNotAreRefused) {
  for (const char* name : {"a:b.png", "q?.png", "a*", "a<b", "a>b", "a|b", "a\"b", "a\\b"})
    EXPECT_THAT(WindowsNameFault(name), HasSubstr("with a ")) << name;
  EXPECT_THAT(WindowsNameFault("a\tb"), HasSubstr("a control character"));
  EXPECT_THAT(WindowsNameFault("Game/a./b"), HasSubstr("ends with a dot"));
  EXPECT_THAT(WindowsNameFault("Game/a "), HasSubstr("ends with a blank"));
}

TEST(WindowsNamesTest, OtherNamesAreTaken) {
  for (const char* name : {"", "Game/a.png", "auxiliary.png", "com.png", "com0", "com10", "lpt",
                           "console.txt", "my.aux", "a.con", ".aux", " aux", "con_in", "conin",
                           "r\u00e9sum\u00e9 1.png", "a.d/aux_1"})
    EXPECT_THAT(WindowsNameFault(name), IsEmpty()) << name;
}

}  // namespace
}  // namespace galley::tree
