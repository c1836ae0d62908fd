# Installed: headers, data, one export set per component, a config that looks for a dependency only when its
# component is asked for. Nothing depends on the architecture, so everything goes below share/ and include/.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(kvbudget_config_dir "${CMAKE_INSTALL_DATADIR}/cmake/kvbudget")
set(kvbudget_data_dir "${CMAKE_INSTALL_DATADIR}/kvbudget")

# A component whose dependency is built inside this build cannot be exported: the package would refer to a
# target that it does not bring along.
function(kvbudget_install_component target file dependency)
  if(dependency AND TARGET ${dependency})
    get_target_property(imported ${dependency} IMPORTED)
    if(NOT imported)
      message(STATUS "kvbudget: ${target} is not installed, since ${dependency} is part of this build")
      return()
    endif()
  endif()
  install(
    TARGETS ${target}
    EXPORT ${file}
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ${file} NAMESPACE kvbudget:: DESTINATION "${kvbudget_config_dir}")
endfunction()

kvbudget_install_component(kvbudget kvbudgetTargets "")
kvbudget_install_component(kvbudget_json kvbudgetJsonTargets nlohmann_json::nlohmann_json)
kvbudget_install_component(kvbudget_fmt kvbudgetFmtTargets fmt::fmt)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/kvbudgetConfig.cmake.in" "${PROJECT_BINARY_DIR}/kvbudgetConfig.cmake"
  INSTALL_DESTINATION "${kvbudget_config_dir}"
  PATH_VARS kvbudget_data_dir)
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/kvbudgetConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/kvbudgetConfig.cmake" "${PROJECT_BINARY_DIR}/kvbudgetConfigVersion.cmake"
        DESTINATION "${kvbudget_config_dir}")

# pkg-config: ${pcfiledir} keeps the installed tree movable.
set(kvbudget_pc_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  set(kvbudget_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(kvbudget_pc_include "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  set(kvbudget_pc_data "${CMAKE_INSTALL_FULL_DATADIR}/kvbudget")
else()
  file(RELATIVE_PATH kvbudget_pc_up "/prefix/${kvbudget_pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" kvbudget_pc_up "${kvbudget_pc_up}")
  set(kvbudget_pc_prefix "\${pcfiledir}/${kvbudget_pc_up}")
  set(kvbudget_pc_include "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  set(kvbudget_pc_data "\${prefix}/${kvbudget_data_dir}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/kvbudget.pc.in" "${PROJECT_BINARY_DIR}/kvbudget.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kvbudget.pc" DESTINATION "${kvbudget_pc_dir}")

if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/data")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/" DESTINATION "${kvbudget_data_dir}" FILES_MATCHING PATTERN "*.json")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/kvbudget")
